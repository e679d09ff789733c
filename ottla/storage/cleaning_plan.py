"""Which part of which log is worth compacting now, and what a cleaner must know to do it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

from ottla.storage.config import FOREVER, LogConfig
from ottla.storage.retention import SegmentFacts
from ottla.storage.transaction_trail import ActiveProducer
from ottla.storage.transactions import AbortedTransaction

_MAX_OFFSET_SPAN = 0x7FFF_FFFF
# A map for so many bytes of log has room for every key, unless they are tiny or well compressed;
# then it is full early, and a later pass goes on.
_MAP_BYTES_PER_LOG_BYTE = 2
_SMALLEST_MAP_BYTES = 1024 * 1024

Name = TypeVar("Name", bound=Hashable)


class LogFacts(NamedTuple):
    """One compacted log. The last segment is the active one."""

    segments: Sequence[SegmentFacts]
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    checkpoint: int | None  # where the last pass ended, by cleaner-offset-checkpoint
    config: LogConfig


class Bound(Enum):
    """Why nothing can be compacted from some offset on."""

    ACTIVE_SEGMENT = "the active segment is never compacted"
    OPEN_TRANSACTION = "a transaction may still be open: beyond the last stable offset"
    TOO_YOUNG = "younger than min.compaction.lag.ms"


class CleanableRange(NamedTuple):
    """The dirty part of a log as far as it may be compacted; it ends where a segment begins."""

    first_dirty_offset: int
    first_uncleanable_offset: int
    bound: Bound
    clean_bytes: int
    cleanable_bytes: int
    overdue_ms: int  # by how much max.compaction.lag.ms is exceeded

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0


def cleanable_range(log: LogFacts, *, now_ms: int) -> CleanableRange:
    # A checkpoint can be ahead of a log that was cut, or behind one whose beginning is gone. Where
    # the log starts does not matter (in Kafka it does): a crash may set that back, and then nobody
    # must find a record whose tombstone had its time because the two were taken for clean.
    first_dirty = log.segments[0].base_offset
    if log.checkpoint is not None and first_dirty <= log.checkpoint <= log.log_end_offset:
        first_dirty = log.checkpoint
    active = log.segments[-1].base_offset
    dirty_closed = _overlapping(log.segments, first_dirty, active)
    limit, bound = active, Bound.ACTIVE_SEGMENT
    if log.last_stable_offset < limit:
        limit, bound = log.last_stable_offset, Bound.OPEN_TRANSACTION
    if log.config.min_compaction_lag_ms > 0:
        youngest_ms = now_ms - log.config.min_compaction_lag_ms
        for segment in dirty_closed:
            if segment.largest_timestamp > youngest_ms:
                if segment.base_offset < limit:
                    limit, bound = segment.base_offset, Bound.TOO_YOUNG
                break
    # A segment is compacted whole or not at all.
    limit = max(limit, first_dirty)
    first_uncleanable = max(s.base_offset for s in log.segments if s.base_offset <= limit)
    cleanable = _overlapping(log.segments, first_dirty, first_uncleanable)
    clean = _overlapping(log.segments, -1, first_dirty)
    return CleanableRange(
        first_dirty,
        first_uncleanable,
        bound,
        sum(segment.size_bytes for segment in clean),
        sum(segment.size_bytes for segment in cleanable),
        _overdue_ms(dirty_closed, log.config, now_ms=now_ms),
    )


def _overlapping(segments: Sequence[SegmentFacts], start: int, end: int) -> list[SegmentFacts]:
    """The segments that hold any offset from `start` up to, not including, `end`."""
    if start >= end:
        return []
    ends = [segment.base_offset for segment in segments[1:]] + [FOREVER]
    return [
        segment
        for segment, next_base in zip(segments, ends, strict=True)
        if segment.base_offset < end and next_base > start
    ]


def _overdue_ms(dirty: Iterable[SegmentFacts], config: LogConfig, *, now_ms: int) -> int:
    oldest = min((s.first_timestamp for s in dirty if s.first_timestamp > 0), default=FOREVER)
    return max(0, now_ms - max(config.max_compaction_lag_ms, 0) - oldest)


def dirtiest(
    logs: Mapping[Name, tuple[LogFacts, CleanableRange]],
) -> Name | None:
    """The log to compact next: the largest dirty ratio of those beyond a limit of theirs."""
    chosen, largest = None, -1.0
    for name, (log, cleanable) in logs.items():
        is_overdue = cleanable.overdue_ms > 0 and cleanable.cleanable_bytes > 0
        is_dirty = cleanable.dirty_ratio > log.config.min_cleanable_dirty_ratio
        if (is_overdue or is_dirty) and cleanable.dirty_ratio > largest:
            chosen, largest = name, cleanable.dirty_ratio
    return chosen


class CleaningPlan(NamedTuple):
    """All that a cleaner needs to know of a log; plain values, so that it can be sent."""

    segments: tuple[SegmentFacts, ...]  # from the first up to the first that is not cleanable
    first_dirty_offset: int
    first_uncleanable_offset: int
    aborted: tuple[AbortedTransaction, ...]
    active_producers: tuple[ActiveProducer, ...]
    map_bytes: int
    old_tombstone_limit_ms: int  # segments modified later keep tombstones of old formats
    delete_retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int


def plan_cleaning(
    log: LogFacts,
    cleanable: CleanableRange,
    *,
    aborted: Iterable[AbortedTransaction],
    active_producers: Iterable[ActiveProducer],
    map_bytes: int,
) -> CleaningPlan:
    """`aborted` may be all there are: those count whose end is in reach, and so known to last."""
    clean = _overlapping(log.segments, -1, cleanable.first_dirty_offset)
    enough = _MAP_BYTES_PER_LOG_BYTE * cleanable.cleanable_bytes
    config = log.config
    return CleaningPlan(
        tuple(s for s in log.segments if s.base_offset < cleanable.first_uncleanable_offset),
        cleanable.first_dirty_offset,
        cleanable.first_uncleanable_offset,
        tuple(a for a in aborted if a.last_offset < cleanable.first_uncleanable_offset),
        tuple(active_producers),
        min(map_bytes, max(enough, _SMALLEST_MAP_BYTES)),
        clean[-1].modified_ms - config.delete_retention_ms if clean else 0,
        config.delete_retention_ms,
        config.segment_bytes,
        config.segment_index_bytes,
        config.index_interval_bytes,
    )


def group_segments(plan: CleaningPlan, *, end_offset: int) -> list[list[SegmentFacts]]:
    """Neighbours below `end_offset` that fit into one segment even if nothing is dropped."""
    segments = [s for s in plan.segments if s.base_offset < end_offset]
    ends = [s.base_offset for s in plan.segments[1:]] + [plan.first_uncleanable_offset]
    groups: list[list[SegmentFacts]] = []
    for number, segment in enumerate(segments):
        group = groups[-1] if groups else []
        fits = (
            bool(group)
            and sum(s.size_bytes for s in group) + segment.size_bytes <= plan.segment_bytes
            and _index_bytes(group, segment) <= plan.segment_index_bytes
            # Offsets in an index count from the segment's base in 32 bits. An empty segment has
            # none there, and would be left over for ever if it were held to that.
            and (
                not segment.size_bytes
                or ends[number] - 1 - group[0].base_offset <= _MAX_OFFSET_SPAN
            )
        )
        if fits:
            group.append(segment)
        else:
            groups.append([segment])
    return groups


def _index_bytes(group: Sequence[SegmentFacts], segment: SegmentFacts) -> int:
    return max(
        sum(s.index_bytes for s in group) + segment.index_bytes,
        sum(s.time_index_bytes for s in group) + segment.time_index_bytes,
    )
