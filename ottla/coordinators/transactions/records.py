"""The records of `__transaction_state`: version 0, as Kafka 3.9 writes it; 1, of 4.0, is read too.

Written by hand: there are three to a transaction. The declared messages in `protocol/internal` say
the same, and the tests hold both together.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, pack
from typing import NamedTuple

from ottla.coordinators.transactions.requests import NO_TIMESTAMP, TopicPartition
from ottla.coordinators.transactions.state import TransactionState
from ottla.protocol.codec import decode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal.transaction_log import TransactionLogKey, TransactionLogValue

_SIZE = Struct(">h")
_START = Struct(">hqhibi")  # a value up to its partitions, and the number of their topics
_TIMES = Struct(">qq")
_NO_LIST = -1


class TransactionValue(NamedTuple):
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: tuple[TopicPartition, ...]
    updated_ms: int
    started_ms: int = NO_TIMESTAMP


def transaction_key(transactional_id: str) -> bytes:
    name = transactional_id.encode()
    return pack(">hh", 0, len(name)) + name


def transaction_value(value: TransactionValue) -> bytes:
    topics = _by_topic(value.partitions)
    count = _NO_LIST if value.state is TransactionState.EMPTY else len(topics)
    start = _START.pack(0, *value[:3], value.state, count)
    lists = b"".join([_topic(topic, indexes) for topic, indexes in topics.items()])
    return start + lists + _TIMES.pack(value.updated_ms, value.started_ms)


def parse_key(key: bytes) -> str | None:
    """The transactional id; None: a kind of record that this coordinator does not know."""
    if _version(key) != 0:
        return None
    return decode(TransactionLogKey, key[2:], 0).transactional_id


def parse_value(value: bytes) -> TransactionValue:
    found = decode(TransactionLogValue, value[2:], _version(value))
    return TransactionValue(
        found.producer_id,
        found.producer_epoch,
        found.transaction_timeout_ms,
        _state(found.transaction_status),
        tuple(
            (topic.topic, index)
            for topic in found.transaction_partitions or ()
            for index in topic.partition_ids
        ),
        found.transaction_last_update_timestamp_ms,
        found.transaction_start_timestamp_ms,
    )


def _state(status: int) -> TransactionState:
    try:
        return TransactionState(status)
    except ValueError as error:
        reading = "a record's value"
        raise ProtocolError(f"{status} is no state of a transaction", reading=reading) from error


def _version(data: bytes) -> int:
    if len(data) < _SIZE.size:
        raise ProtocolError(f"{len(data)} bytes have no version", reading="a record")
    version: int = _SIZE.unpack_from(data)[0]
    return version


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, index in partitions:
        found.setdefault(topic, []).append(index)
    return found


def _topic(topic: str, indexes: list[int]) -> bytes:
    name = topic.encode()
    return pack(f">h{len(name)}si{len(indexes)}i", len(name), name, len(indexes), *indexes)
