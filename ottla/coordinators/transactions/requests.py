"""What producers and tools ask of transactions, and what they hear."""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.errors import ErrorCode

TopicPartition = tuple[str, int]

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_TIMESTAMP = -1


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


class InitAnswer(NamedTuple):
    error: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


class Marker(NamedTuple):
    """One producer's transaction has ended so, for partitions of one leader."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_commit: bool
    partitions: tuple[TopicPartition, ...]


class DescribedTransaction(NamedTuple):
    """With an error, Kafka tells zeros."""

    error: ErrorCode
    state: str = ""  # as on the wire
    timeout_ms: int = 0
    started_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    partitions: tuple[TopicPartition, ...] = ()


class ListedTransaction(NamedTuple):
    transactional_id: str
    producer_id: int
    state: str


class ListedTransactions(NamedTuple):
    error: ErrorCode
    unknown_states: tuple[str, ...] = ()  # filters that name no state
    transactions: tuple[ListedTransaction, ...] = ()
