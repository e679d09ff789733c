"""Control batches: the records that end transactions, and the other marks Kafka keeps in a log."""

from __future__ import annotations

from enum import IntEnum
from struct import Struct

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.records.refusals import invalid

_READING = "control record"
_KEY = Struct(">hh")  # version, type
_END_TRANSACTION = Struct(">hi")  # version, coordinator epoch

END_TRANSACTION_BYTES = 78  # of a whole batch that ends a transaction


class ControlType(IntEnum):
    """What a control record marks. Types unknown to a reader are skipped, not refused."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


def control_key(control_type: ControlType) -> bytes:
    return _KEY.pack(0, control_type)


def read_control_type(key: bytes | None) -> ControlType:
    """The type in a control record's key; later versions may only append to it."""
    if key is None or len(key) < _KEY.size:
        raise invalid("the key is too short", reading=_READING, path="key")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise invalid(f"version {version}", reading=_READING, path="key")
    return ControlType(number) if 0 <= number <= ControlType.KRAFT_VOTERS else ControlType.UNKNOWN


def end_transaction_value(*, coordinator_epoch: int) -> bytes:
    return _END_TRANSACTION.pack(0, coordinator_epoch)


def read_coordinator_epoch(value: bytes | None) -> int:
    """The coordinator's epoch in the value of an ABORT or COMMIT record."""
    if value is None or len(value) < _END_TRANSACTION.size:
        raise invalid("the value is too short", reading=_READING, path="value")
    version, coordinator_epoch = _END_TRANSACTION.unpack_from(value)
    if version < 0:
        raise invalid(f"version {version}", reading=_READING, path="value")
    return int(coordinator_epoch)


def build_end_transaction(
    control_type: ControlType,
    *,
    offset: int,
    timestamp: int,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    leader_epoch: int = -1,
) -> bytes:
    """The batch that ends a producer's transaction: one record, at one offset of its own."""
    value = end_transaction_value(coordinator_epoch=coordinator_epoch)
    return build_batch(
        [Record(offset, timestamp, control_key(control_type), value)],
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )
