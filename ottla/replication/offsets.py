"""The offset for a time, or for one of the times that stand for a place in the log."""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.reading import Reader, end_of_view
from ottla.storage.log import Log
from ottla.storage.segment import Segment

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5


class FoundOffset(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int


def find_offset(
    log: Log, timestamp: int, *, reader: Reader, leader_epoch: int
) -> FoundOffset | None:
    """None if there is no such record, or none that the reader may see."""
    if timestamp == LATEST:
        return FoundOffset(-1, end_of_view(log, reader), leader_epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        earliest = log.epochs.earliest
        known = earliest is not None and earliest.start_offset <= log.log_start_offset
        return FoundOffset(
            -1, log.log_start_offset, earliest.epoch if known and earliest is not None else -1
        )
    if timestamp == LATEST_TIERED:
        return FoundOffset(-1, -1, -1)  # nothing is tiered here
    if log.config.message_magic == 0:
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, "magic 0 has no timestamps")
    if timestamp == MAX_TIMESTAMP:
        timestamp = max(segment.largest_timestamp() for segment in log.segments)
        if timestamp < 0:
            return None
    found = log.find_timestamp(timestamp)
    if found is None or found[1] >= end_of_view(log, reader):
        return None
    epoch = log.epochs.epoch_for_offset(found[1])
    return FoundOffset(found[0], found[1], -1 if epoch is None else epoch)


def segment_offsets(log: Log, timestamp: int, *, count: int, reader: Reader) -> list[int]:
    """What version 0 answers: where segments begin, the latest first, and the end of the log."""
    places = [(each.base_offset, _modified_ms(log, each)) for each in log.segments]
    end = end_of_view(log, reader)
    places = [(max(offset, log.log_start_offset), ms) for offset, ms in places if offset < end]
    places.append((end, 0x7FFF_FFFF_FFFF_FFFF if timestamp == LATEST else -1))
    if timestamp == LATEST:
        chosen = [offset for offset, _ in places]
    elif timestamp == EARLIEST:
        chosen = [places[0][0]]
    else:
        chosen = [offset for offset, ms in places if 0 <= ms <= timestamp]
    return sorted(chosen, reverse=True)[: max(count, 0)]


def _modified_ms(log: Log, segment: Segment) -> int:
    status = log.disk.status(segment.log.path)
    return status.modified_ms if status is not None else -1
