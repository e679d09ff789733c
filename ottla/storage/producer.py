"""One producer as a log knows it: its epoch, its last batches, its open transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import BatchHeader

LARGEST_SEQUENCE = 0x7FFF_FFFF
KEPT_BATCHES = 5  # a client may have so many in flight, and resend any of them


class KeptBatch(NamedTuple):
    """A batch remembered, to know it again."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return self.last_sequence - self.offset_delta & LARGEST_SEQUENCE

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class ProducerState(NamedTuple):
    """One producer. `transaction_start` is its open transaction's first offset, or -1."""

    producer_id: int
    epoch: int
    coordinator_epoch: int
    last_timestamp: int
    transaction_start: int
    batches: tuple[KeptBatch, ...]  # oldest first

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else -1


class Duplicate(NamedTuple):
    """Where a batch that came again was put the first time. Answered as if it were just written."""

    first_offset: int
    last_offset: int
    timestamp: int


def knows_ends(states: Iterable[ProducerState]) -> bool:
    """Whether any of them has ended a transaction."""
    return any(state.coordinator_epoch >= 0 for state in states)


def find_duplicate(state: ProducerState, header: BatchHeader) -> Duplicate:
    """A batch that is not the next one must be one of the last, or there is a gap before it."""
    first_sequence = header.base_sequence
    last_sequence = first_sequence + header.last_offset_delta & LARGEST_SEQUENCE
    for batch in state.batches:
        if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
            return Duplicate(batch.first_offset, batch.last_offset, batch.timestamp)
    raise out_of_order(state, header, expected=state.last_sequence + 1 & LARGEST_SEQUENCE)


def out_of_order(state: ProducerState, header: BatchHeader, *, expected: int) -> KafkaError:
    detail = (
        f"producer {state.producer_id}, epoch {header.producer_epoch}:"
        f" sequence {header.base_sequence} instead of {expected}"
    )
    return KafkaError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, detail)


def fenced(state: ProducerState, epoch: int) -> KafkaError:
    detail = f"producer {state.producer_id} has moved on from epoch {epoch} to {state.epoch}"
    return KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH, detail)
