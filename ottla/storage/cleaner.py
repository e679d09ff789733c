"""Carries a cleaning plan out: reads the segments in pieces, writes compacted ones beside them.

Nothing of the log is touched. Each group of segments becomes one `.cleaned` segment, and the log
swaps it in when it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.layout import LOG_OVERHEAD, MAGIC_AT
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.cleaned_segment import CleanedFiles, CleanedSegment
from ottla.storage.cleaning_plan import CleaningPlan, group_segments
from ottla.storage.compaction import BatchFilter, MapBuilder
from ottla.storage.files import CorruptLog, Disk, File
from ottla.storage.names import FileName, Kind
from ottla.storage.offset_map import OffsetMap
from ottla.storage.retention import SegmentFacts
from ottla.storage.scan import read_header, walk
from ottla.storage.settled import Settled
from ottla.storage.transaction_trail import TransactionTrail

_CHUNK_BYTES = 1024 * 1024
_LOOKS_A_STEP = 1024  # headers, between two chances to give up
_LEAST_READ_BYTES = MAGIC_AT + 1  # enough to tell a batch's size

Throttle = Callable[[int], None]  # told of bytes read or written; returns when that was allowed
Progress = Callable[[int, int], None]  # bytes done, bytes in all; may raise to give up


class CleanedGroup(NamedTuple):
    """One compacted segment, ready to replace its sources."""

    sources: tuple[int, ...]  # their base offsets; the first is the new segment's too
    files: CleanedFiles
    bytes_read: int
    records_read: int
    records_kept: int
    # Goes into the cleaner's checkpoint once every group is swapped in.
    next_dirty_offset: int
    is_last: bool


def clean(
    disk: Disk,
    folder: str,
    plan: CleaningPlan,
    *,
    now_ms: int,
    throttle: Throttle,
    progress: Progress,
    chunk_bytes: int = _CHUNK_BYTES,
) -> Iterator[CleanedGroup]:
    """The groups as they are done; a group that was not finished leaves no files behind.

    None at all if nothing that is dirty can be judged by what is in these segments.
    """
    if not plan.segments:
        return
    work = _Work(disk, folder, plan, throttle, progress, chunk_bytes)
    settled = work.look()
    if settled.says_nothing_behind(plan.first_dirty_offset):
        return
    offset_map = OffsetMap(plan.map_bytes)
    end_offset = work.fill(offset_map, up_to=settled.stable_offset)
    groups = group_segments(plan, end_offset=end_offset)
    work.total_bytes = work.done_bytes + sum(s.size_bytes for group in groups for s in group)
    trail = TransactionTrail(plan.aborted, start_offset=plan.segments[0].base_offset)
    batch_filter = BatchFilter(
        offset_map,
        trail,
        end_offset=end_offset,
        active_producers=settled.last_of(plan.active_producers),
        now_ms=now_ms,
        delete_retention_ms=plan.delete_retention_ms,
    )
    for group in groups:
        yield work.rewrite(
            group, batch_filter, trail, end_offset=end_offset, is_last=group is groups[-1]
        )


class _Work:
    """One run over one log."""

    def __init__(
        self,
        disk: Disk,
        folder: str,
        plan: CleaningPlan,
        throttle: Throttle,
        progress: Progress,
        chunk_bytes: int,
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._plan = plan
        self._throttle = throttle
        self._progress = progress
        self._chunk_bytes = chunk_bytes
        self.done_bytes = 0
        self.total_bytes = sum(s.size_bytes for s in plan.segments) + sum(
            s.size_bytes for s, _ in self._dirty()
        )

    def _dirty(self) -> list[tuple[SegmentFacts, int]]:
        """The segments of the first pass, each with the offset where the next one begins."""
        plan = self._plan
        ends = [s.base_offset for s in plan.segments[1:]] + [plan.first_uncleanable_offset]
        pairs = zip(plan.segments, ends, strict=True)
        return [(s, end) for s, end in pairs if end > plan.first_dirty_offset]

    def look(self) -> Settled:
        """Before the passes, at the headers alone."""
        settled = Settled(self._plan.first_uncleanable_offset)
        for segment in self._plan.segments:
            path = f"{self._folder}/{FileName(segment.base_offset, Kind.LOG)}"
            with closing(self._disk.open(path, writable=False)) as file:
                for count, place in enumerate(walk(file, 0, segment.size_bytes)):
                    if place.magic == 2:
                        settled.meet(read_header(file, place))
                    if count % _LOOKS_A_STEP == 0:
                        self._progress(0, self.total_bytes)
        return settled

    def fill(self, offset_map: OffsetMap, *, up_to: int) -> int:
        """The first pass; returns the offset where the map ends."""
        start = self._plan.first_dirty_offset
        trail = TransactionTrail(self._plan.aborted, start_offset=start)
        builder = MapBuilder(offset_map, trail, first_dirty_offset=start)
        for segment, next_offset in self._dirty():
            for path, position, batch in self._batches(segment):
                if batch.last_offset < start:
                    continue
                if batch.base_offset >= up_to:
                    builder.skip_to(up_to)
                    return builder.end_offset
                try:
                    has_room = builder.add(batch)
                except ProtocolError as error:
                    raise CorruptLog(path, position, error.cause) from error
                if not has_room:
                    return builder.end_offset
            builder.skip_to(next_offset)
        return builder.end_offset

    def _has_index(self, segment: SegmentFacts) -> bool:
        name = FileName(segment.base_offset, Kind.TRANSACTION_INDEX)
        return self._disk.status(f"{self._folder}/{name}") is not None

    def rewrite(
        self,
        group: Sequence[SegmentFacts],
        batch_filter: BatchFilter,
        trail: TransactionTrail,
        *,
        end_offset: int,
        is_last: bool,
    ) -> CleanedGroup:
        """The second pass over the segments of one group."""
        target = CleanedSegment(
            self._disk,
            self._folder,
            base_offset=group[0].base_offset,
            index_interval_bytes=self._plan.index_interval_bytes,
        )
        files, records_read, records_kept = None, 0, 0
        try:
            for segment in group:
                limit_ms = self._plan.old_tombstone_limit_ms
                batch_filter.keeps_old_tombstones = segment.modified_ms > limit_ms
                for path, position, batch in self._batches(segment):
                    try:
                        outcome = batch_filter.filter(batch)
                    except ProtocolError as error:
                        raise CorruptLog(path, position, error.cause) from error
                    records_read += outcome.records_read
                    records_kept += outcome.records_kept
                    if outcome.data is not None:
                        target.add(outcome.data)
            files = target.finish(
                trail.take_indexed(),
                had_transactions=any(self._has_index(segment) for segment in group),
                modified_ms=group[-1].modified_ms,
            )
        finally:
            if files is None:
                target.discard()
        self._throttle(files.size_bytes)
        return CleanedGroup(
            tuple(segment.base_offset for segment in group),
            files,
            sum(segment.size_bytes for segment in group),
            records_read,
            records_kept,
            end_offset,
            is_last,
        )

    def _batches(self, segment: SegmentFacts) -> Iterator[tuple[str, int, Batch]]:
        path = f"{self._folder}/{FileName(segment.base_offset, Kind.LOG)}"
        file = self._disk.open(path, writable=False)
        try:
            for position, batches, size_bytes in _chunks(
                file, segment.size_bytes, self._chunk_bytes
            ):
                self._throttle(size_bytes)
                for batch in batches:
                    yield path, position + batch.position, batch
                self.done_bytes += size_bytes
                self._progress(self.done_bytes, self.total_bytes)
        finally:
            file.close()


def _chunks(
    file: File, size_bytes: int, chunk_bytes: int
) -> Iterator[tuple[int, list[Batch], int]]:
    """Position, batches, and their size together; a batch larger than a chunk is one of its own."""
    position, wanted = 0, chunk_bytes
    while position < size_bytes:
        wanted = min(max(wanted, _LEAST_READ_BYTES), size_bytes - position)
        data = file.read(position, wanted)
        batches: list[Batch] = []
        used = 0
        try:
            for batch in read_batches(data):
                batches.append(batch)
                used += batch.size_bytes
        except ProtocolError as error:
            raise CorruptLog(file.path, position + used, error.cause) from error
        if used:
            yield position, batches, used
            position, wanted = position + used, chunk_bytes
        elif len(data) < wanted or position + wanted == size_bytes:
            raise CorruptLog(file.path, position, "the file ends inside a batch")
        else:
            wanted = LOG_OVERHEAD + int.from_bytes(data[8:LOG_OVERHEAD], "big", signed=True)
