"""The offset for a time, or for one of the times that stand for a place in the log."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.reading import Reader, end_of_view
from ottla.storage.log import Log
from ottla.storage.segment import Segment
from ottla.storage.timestamp_search import largest_timestamp

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5


class FoundOffset(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int


class OffsetSearch:
    """Call `step` until it is True; then `found` is the answer.

    None if there is no such record, or none that the reader may see. A step is short, but where
    headers lie about their times there may be one for every batch.
    """

    def __init__(self, log: Log, timestamp: int, *, reader: Reader, leader_epoch: int) -> None:
        self.found: FoundOffset | None = None
        self._steps = _find(log, timestamp, reader=reader, leader_epoch=leader_epoch)

    def step(self) -> bool:
        try:
            next(self._steps)
        except StopIteration as done:
            self.found = done.value
            return True
        return False


def _find(
    log: Log, timestamp: int, *, reader: Reader, leader_epoch: int
) -> Generator[None, None, FoundOffset | None]:
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
        timestamp = yield from largest_timestamp(log)
        if timestamp < 0:
            return None
    search = log.search_timestamp(timestamp)
    while not search.step():
        yield
    found = search.found
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
    status = log.disk.status(segment.path(".log"))
    return status.modified_ms if status is not None else -1
