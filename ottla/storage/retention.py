"""Which segments have had their time: retention by log start, by size and by age.

Segments are always given oldest first, the active one last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from ottla.storage.config import LogConfig


class SegmentFacts(NamedTuple):
    """What the rules of retention and compaction know of one segment."""

    base_offset: int
    size_bytes: int
    modified_ms: int
    max_timestamp: int = -1  # of its records; -1 if none has one
    first_timestamp: int = -1  # the largest of its first batch
    created_ms: int = 0
    index_bytes: int = 0
    time_index_bytes: int = 0

    @property
    def largest_timestamp(self) -> int:
        """Its age: records without timestamps are as old as the file."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms


class Breach(Enum):
    """The limit that a segment is beyond."""

    LOG_START = "it lies before the log start offset"
    SIZE = "the log is larger than retention.bytes"
    TIME = "its last record is older than retention.ms"


class Expiry(NamedTuple):
    """What goes: one breach for each of the oldest segments, in their order."""

    breaches: tuple[Breach, ...]
    # All would go, but a log has an active segment: roll first, so that it begins at the log's end.
    rolls_first: bool


def expired_segments(
    segments: Sequence[SegmentFacts],
    config: LogConfig,
    *,
    now_ms: int,
    high_watermark: int,
    log_start_offset: int,
    log_end_offset: int,
) -> Expiry:
    """How many of the oldest segments are to be deleted, and why.

    The three limits are applied one after the other, in Kafka's order, each to what the one before
    left. Only `compact` as cleanup policy leaves deletion to the log start offset.
    """
    ends = [segment.base_offset for segment in segments[1:]] + [log_end_offset]
    # The log start offset must never pass the high watermark; an empty active segment has to stay.
    deletable = 0
    while (
        deletable < len(segments)
        and ends[deletable] <= high_watermark
        and (deletable + 1 < len(segments) or segments[deletable].size_bytes > 0)
    ):
        deletable += 1

    breaches: list[Breach] = []

    def expire(breach: Breach, is_beyond: Callable[[int], bool]) -> None:
        while len(breaches) < deletable and is_beyond(len(breaches)):
            breaches.append(breach)

    last = len(segments) - 1
    expire(Breach.LOG_START, lambda number: number < last and ends[number] <= log_start_offset)
    if config.deletes and config.retention_bytes >= 0:
        left = [0] * (len(segments) + 1)  # by number: the bytes of this segment and all later ones
        for number in range(last, -1, -1):
            left[number] = left[number + 1] + segments[number].size_bytes
        expire(Breach.SIZE, lambda number: left[number + 1] >= config.retention_bytes)
    if config.deletes and config.retention_ms >= 0:
        oldest_ms = now_ms - config.retention_ms
        expire(Breach.TIME, lambda number: segments[number].largest_timestamp < oldest_ms)
    return Expiry(tuple(breaches), rolls_first=len(breaches) == len(segments))
