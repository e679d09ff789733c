"""What compaction would do with every record of a log, and why: the two passes, run for show.

Nothing is written. Records are told one after the other and none is held; what is held are two
offset maps, each within its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from ottla.logtools.compaction_outlook import Outlook, outlook
from ottla.logtools.explained_record import ExplainedRecord, Totals, explained
from ottla.logtools.finding import Finding, error
from ottla.logtools.partition_state import CUT, PartitionState
from ottla.logtools.scan import Scan
from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch
from ottla.storage.cleaning_plan import (
    Bound,
    cleanable_range,
    group_segments,
    plan_cleaning,
)
from ottla.storage.compaction import BatchFilter, MapBuilder
from ottla.storage.files import Disk
from ottla.storage.names import FileName, Kind
from ottla.storage.offset_map import OffsetMap
from ottla.storage.retention import SegmentFacts
from ottla.storage.settled import Settled
from ottla.storage.transaction_trail import TransactionTrail
from ottla.storage.verdict import RecordFate, Verdict

MAP_BYTES = 128 * 1024 * 1024  # log.cleaner.dedupe.buffer.size
_BEYOND_MAP_BYTES = 64 * 1024 * 1024
_MAP_BYTES_PER_LOG_BYTE = 2
_SMALLEST_MAP_BYTES = 1024 * 1024


class CompactionReport:
    """Iterate over `records()` once; then `totals` and `findings` are complete."""

    def __init__(
        self,
        disk: Disk,
        state: PartitionState,
        *,
        now_ms: int,
        map_bytes: int = MAP_BYTES,
        advance: Callable[[int], None] = lambda size_bytes: None,
    ) -> None:
        self.state = state
        self.cleanable = cleanable_range(state.log, now_ms=now_ms)
        self.totals = Totals()
        self.findings: list[Finding] = list(state.findings)
        self._is_corrupt = state.is_corrupt
        self._disk = disk
        self.now_ms = now_ms
        self._advance = advance
        self._plan = plan_cleaning(
            state.log,
            self.cleanable,
            aborted=state.aborted,
            active_producers=state.producers,
            map_bytes=map_bytes,
        )

    @property
    def beyond(self) -> list[SegmentFacts]:
        """The segments that no compaction reaches now; the last is the active one."""
        return list(self.state.log.segments[len(self._plan.segments) :])

    @property
    def pass_bytes(self) -> int:
        """What `records()` will read, in bytes: `advance` hears of as many."""
        everything = sum(segment.size_bytes for segment in self.state.log.segments)
        dirty = sum(segment.size_bytes for segment, _ in self._dirty())
        looked_at = sum(segment.size_bytes for segment in self._plan.segments)
        beyond = sum(segment.size_bytes for segment in self.beyond)
        return everything + looked_at + dirty + beyond

    def records(self) -> Iterator[ExplainedRecord]:
        """All records in their order, transaction markers among them; up to a damage, if any."""
        newer, settled = self._map_beyond(), self._look()
        offset_map = OffsetMap(self._plan.map_bytes)
        end_offset = self._fill(offset_map, up_to=settled.stable_offset)
        groups = group_segments(self._plan, end_offset=end_offset)
        if settled.says_nothing_behind(self._plan.first_dirty_offset):
            groups = []
        rewritten = sum(len(group) for group in groups)
        self.totals.segments_now = len(self.state.log.segments)
        self.totals.segments_after = len(groups) + len(self.state.log.segments) - rewritten
        told: list[RecordFate] = []
        batch_filter = self._filter(offset_map, end_offset, settled, told)
        for number, segment in enumerate(self.state.log.segments):
            limit_ms = self._plan.old_tombstone_limit_ms
            batch_filter.keeps_old_tombstones = segment.modified_ms > limit_ms
            for path, batch in self._batches(segment):
                self.totals.bytes_now += batch.size_bytes
                try:
                    records = batch.records()
                    left = batch.size_bytes
                    fates: Iterable[RecordFate]
                    if number < rewritten:
                        data = batch_filter.filter(batch).data
                        left = 0 if data is None else len(data)
                        fates = self._refined(told, batch, newer)
                    else:
                        fates = self._untouched(records, batch, segment, end_offset)
                except ProtocolError as cause:
                    self._damaged(path, batch, cause)
                    return
                self.totals.bytes_after += left
                for record in explained(records, fates, are_markers=batch.is_control):
                    self.totals.verdicts[record.verdict] += 1
                    yield record
                told.clear()

    def _filter(
        self, offset_map: OffsetMap, end_offset: int, settled: Settled, told: list[RecordFate]
    ) -> BatchFilter:
        plan = self._plan
        start = plan.segments[0].base_offset if plan.segments else 0
        return BatchFilter(
            offset_map,
            TransactionTrail(plan.aborted, start_offset=start),
            end_offset=end_offset,
            active_producers=settled.last_of(plan.active_producers),
            now_ms=self.now_ms,
            delete_retention_ms=plan.delete_retention_ms,
            explain=told.append,
        )

    def _dirty(self) -> list[tuple[SegmentFacts, int]]:
        """The segments of the first pass, each with the offset where the next one begins."""
        following = self.state.log.segments[1:]  # there is always the active one
        return [
            (segment, after.base_offset)
            for segment, after in zip(self._plan.segments, following, strict=False)
            if after.base_offset > self._plan.first_dirty_offset
        ]

    def _look(self) -> Settled:
        settled = Settled(self._plan.first_uncleanable_offset)
        for segment in self._plan.segments:
            for _, batch in self._batches(segment):
                if batch.header is not None:
                    settled.meet(batch.header)
        return settled

    def _fill(self, offset_map: OffsetMap, *, up_to: int) -> int:
        """The first pass; returns the offset where the map ends."""
        start = self._plan.first_dirty_offset
        trail = TransactionTrail(self._plan.aborted, start_offset=start)
        builder = MapBuilder(offset_map, trail, first_dirty_offset=start)
        for segment, next_offset in self._dirty():
            for _, batch in self._batches(segment):
                if batch.base_offset >= max(up_to, start):
                    builder.skip_to(up_to)
                    return builder.end_offset
                try:
                    if batch.last_offset >= start and not builder.add(batch):
                        return builder.end_offset
                except ProtocolError:
                    return builder.end_offset  # the second pass meets it again, and tells
            builder.skip_to(next_offset)
        return builder.end_offset

    def _map_beyond(self) -> OffsetMap:
        """Where the keys out of reach were last written, as far as the map has room.

        To a user the latest of a key is the one there, though no compaction knows it yet.
        """
        size = _MAP_BYTES_PER_LOG_BYTE * sum(segment.size_bytes for segment in self.beyond)
        newer = OffsetMap(min(_BEYOND_MAP_BYTES, max(size, _SMALLEST_MAP_BYTES)))
        start = self._plan.first_uncleanable_offset
        trail = TransactionTrail(self.state.aborted, start_offset=start)
        builder = MapBuilder(newer, trail, first_dirty_offset=start)
        for segment in self.beyond:
            for _, batch in self._batches(segment):
                try:
                    if not self._is_open(batch) and not builder.add(batch):
                        return newer
                except ProtocolError:
                    return newer
        return newer

    def _is_open(self, batch: Batch) -> bool:
        """Whether the batch may yet be aborted."""
        header = batch.header
        if header is None or not header.is_transactional:
            return False
        start = self.state.open_transactions.get(header.producer_id)
        return start is not None and header.base_offset >= start

    def _batches(self, segment: SegmentFacts) -> Iterator[tuple[str, Batch]]:
        """Read before, so all are sound from outside."""
        path = f"{self.state.folder}/{FileName(segment.base_offset, Kind.LOG)}"
        if not segment.size_bytes:
            return
        with closing(self._disk.open(path, writable=False)) as file:
            for stored in Scan(file, stop=segment.size_bytes):
                if stored.batch is not None:
                    yield path, stored.batch
                self._advance(stored.size_bytes)

    def outlook(self) -> Outlook:
        """After `records()`: only they find every damage."""
        return outlook(self.state, self.cleanable, is_corrupt=self._is_corrupt)

    def _damaged(self, path: str, batch: Batch, cause: ProtocolError) -> None:
        self._is_corrupt = True
        self.findings.append(error(path, batch.position, cause.cause, CUT))

    def _refined(
        self, told: list[RecordFate], batch: Batch, newer: OffsetMap
    ) -> Iterator[RecordFate]:
        """What the passes said, and what only a look at the whole log adds."""
        latest_offsets = newer.latest([fate.key for fate in told])
        horizon_ms = batch.header.delete_horizon_ms if batch.header else None
        start = self.state.log.log_start_offset
        for fate, latest_offset in zip(told, latest_offsets, strict=True):
            verdict = fate.verdict
            if verdict.keeps and fate.offset < start:
                yield fate._replace(verdict=Verdict.KEPT_BELOW_START, detail=start)
            elif verdict is Verdict.KEPT_LATEST and latest_offset > fate.offset:
                yield fate._replace(verdict=Verdict.KEPT_NEWER_BEYOND, detail=latest_offset)
            elif verdict is Verdict.KEPT_TOMBSTONE and horizon_ms is None:
                yield fate._replace(verdict=Verdict.KEPT_NEW_TOMBSTONE)
            else:
                yield fate

    def _untouched(
        self, records: Sequence[Record], batch: Batch, segment: SegmentFacts, end_offset: int
    ) -> Iterator[RecordFate]:
        verdict = Verdict.KEPT_NOT_REACHED
        detail: int | None = end_offset
        if segment.base_offset >= self._plan.first_uncleanable_offset:
            verdict, detail = self.out_of_reach(segment)
        for record in records:
            key = None if batch.is_control else record.key
            yield RecordFate(record.offset, key, verdict, detail)

    def out_of_reach(self, segment: SegmentFacts) -> tuple[Verdict, int | None]:
        """Why no compaction reaches this segment, which is one of `beyond`."""
        log = self.state.log
        if segment is log.segments[-1]:
            return Verdict.KEPT_ACTIVE, None
        if self.cleanable.bound is Bound.TOO_YOUNG:
            lag_ms = log.config.min_compaction_lag_ms
            return Verdict.KEPT_TOO_YOUNG, self.beyond[0].largest_timestamp + lag_ms
        if log.last_stable_offset == self.state.first_open_offset:
            return Verdict.KEPT_OPEN_TRANSACTION, log.last_stable_offset
        return Verdict.KEPT_NOT_REPLICATED, self.state.high_watermark
