"""What compaction keeps: the last record of each key, and what transactions and producers need.

Two passes. The first enters the keys of the dirty part into an offset map; the second goes through
the log from its start and keeps a record if the map knows no later one of its key. Batches come in
and go out as bytes; a batch from which nothing is dropped goes out as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ottla.protocol.records.batch import BatchHeader, read_payload
from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.record_set import Batch
from ottla.protocol.records.refusals import invalid
from ottla.protocol.varint import Buffer
from ottla.storage.offset_map import OffsetMap
from ottla.storage.rebuilt_batch import emptied, rebuilt, rebuilt_messages
from ottla.storage.record_spans import RecordSpan, read_spans
from ottla.storage.transaction_trail import ActiveProducer, TransactionTrail
from ottla.storage.verdict import RecordFate, Verdict

# An attribute of an enum costs more to reach than all else that is done for most records.
_LATEST = Verdict.KEPT_LATEST
_NEWER = Verdict.DROPPED_NEWER


class Outcome(NamedTuple):
    """What is left of one batch: None if nothing, the same view if all."""

    data: Buffer | None
    records_read: int
    records_kept: int


def _read_spans(batch: Batch, header: BatchHeader) -> tuple[bytes, list[RecordSpan]]:
    payload = read_payload(batch.view, header, limit=batch.limit)
    try:
        return payload, read_spans(payload, header.record_count)
    except ValueError as cause:
        raise invalid(str(cause), reading="record batch v2") from cause


def _control_type(batch: Batch) -> ControlType | None:
    records = batch.records()
    return read_control_type(records[0].key) if records else None


class MapBuilder:
    """The first pass: fills the offset map from the dirty part, batch by batch."""

    def __init__(
        self, offset_map: OffsetMap, trail: TransactionTrail, *, first_dirty_offset: int
    ) -> None:
        self._map = offset_map
        self._trail = trail
        self._first_dirty_offset = first_dirty_offset
        # Below this every key is in the map; the next pass begins here.
        self.end_offset = first_dirty_offset

    def add(self, batch: Batch) -> bool:
        """False when the map is full, even if only a part of the batch is in it."""
        header = batch.header
        pairs: list[tuple[bytes, int]] = []
        if header is None:
            pairs = [(r.key, r.offset) for r in batch.records() if r.key is not None]
        elif header.is_control:
            self._trail.meet_marker(header, _control_type(batch))
        elif not self._trail.meet_data(header):
            base = header.base_offset
            _, spans = _read_spans(batch, header)
            pairs = [(span[5], base + span[4]) for span in spans if span[5] is not None]
        if pairs and pairs[0][1] < self._first_dirty_offset:
            pairs = [pair for pair in pairs if pair[1] >= self._first_dirty_offset]
        stopped_at = self._map.put_all(pairs)
        if stopped_at is not None:
            self.end_offset = stopped_at
            return False
        self.skip_to(batch.next_offset)
        return True

    def skip_to(self, offset: int) -> None:
        """There is nothing more before `offset`: what stood there was compacted away earlier."""
        self.end_offset = max(self.end_offset, offset)


class BatchFilter:
    """The second pass: what is left of each batch, from the log's first one on."""

    def __init__(
        self,
        offset_map: OffsetMap,
        trail: TransactionTrail,
        *,
        end_offset: int,
        active_producers: Iterable[ActiveProducer],
        now_ms: int,
        delete_retention_ms: int,
        explain: Callable[[RecordFate], None] | None = None,
    ) -> None:
        self._map = offset_map
        self._trail = trail
        self._end_offset = end_offset
        self._producers = {producer.producer_id: producer for producer in active_producers}
        self._now_ms = now_ms
        self._horizon_ms = now_ms + delete_retention_ms
        self._explain = explain
        # Old formats have no delete horizon: whether their tombstones stay depends on the segment.
        self.keeps_old_tombstones = True

    def filter(self, batch: Batch) -> Outcome:
        header = batch.header
        if header is None:
            return self._filter_messages(batch)
        if header.is_control:
            return self._filter_marker(batch, header)
        if self._trail.meet_data(header):
            if self._explain is not None:
                for record in batch.records():
                    self._explain(RecordFate(record.offset, record.key, Verdict.DROPPED_ABORTED))
            return self._without_records(header)
        payload, spans = _read_spans(batch, header)
        horizon_ms = header.delete_horizon_ms
        kept, keeps_tombstones = self._keep(spans, header.base_offset, horizon_ms, magic=2)
        if not kept:
            return self._without_records(header)
        # The time of a tombstone begins when all that it deletes is gone, so not in a batch that
        # the map does not cover whole. (Kafka begins it there too.)
        if keeps_tombstones and horizon_ms is None and header.last_offset < self._end_offset:
            horizon_ms = self._horizon_ms
        elif len(kept) == len(spans):
            return Outcome(batch.view, len(spans), len(spans))
        data = rebuilt(header, payload, kept, delete_horizon_ms=horizon_ms)
        return Outcome(data, len(spans), len(kept))

    def _filter_messages(self, batch: Batch) -> Outcome:
        records = batch.records()
        spans = [
            RecordSpan(number, 0, 0, 0, record.offset, record.key, record.value is None)
            for number, record in enumerate(records)
        ]
        kept, _ = self._keep(spans, 0, None, magic=batch.magic)
        if len(kept) == len(records):
            return Outcome(batch.view, len(records), len(records))
        if not kept:
            return Outcome(None, len(records), 0)
        data = rebuilt_messages(batch, [records[span.start] for span in kept])
        return Outcome(data, len(records), len(kept))

    def _filter_marker(self, batch: Batch, header: BatchHeader) -> Outcome:
        control_type = _control_type(batch)
        is_needless = self._trail.meet_marker(header, control_type)
        if control_type is None:
            return self._without_records(header)
        horizon_ms = header.delete_horizon_ms
        data: Buffer = batch.view
        verdict = Verdict.KEPT_MARKER
        if is_needless and horizon_ms is not None and horizon_ms <= self._now_ms:
            verdict = Verdict.DROPPED_MARKER
        elif is_needless:
            verdict = Verdict.KEPT_EMPTY_MARKER
            if horizon_ms is None:
                horizon_ms = self._horizon_ms
                payload, spans = _read_spans(batch, header)
                data = rebuilt(header, payload, spans, delete_horizon_ms=horizon_ms)
        if self._explain is not None:
            detail = None if verdict is Verdict.KEPT_MARKER else horizon_ms
            self._explain(RecordFate(header.last_offset, None, verdict, detail))
        if verdict is Verdict.DROPPED_MARKER:
            return self._without_records(header)
        return Outcome(data, header.record_count, header.record_count)

    def _without_records(self, header: BatchHeader) -> Outcome:
        """An active producer's last batch stays, empty: a restart learns its sequence from it."""
        producer = self._producers.get(header.producer_id)
        if producer is None:
            is_last = False
        elif producer.last_data_offset is None:
            is_last = header.is_control and header.producer_epoch == producer.producer_epoch
        else:
            is_last = header.last_offset == producer.last_data_offset
        return Outcome(emptied(header) if is_last else None, header.record_count, 0)

    def _keep(
        self, spans: Sequence[RecordSpan], base_offset: int, horizon_ms: int | None, *, magic: int
    ) -> tuple[list[RecordSpan], bool]:
        """The records that stay, and whether there are tombstones among them."""
        kept: list[RecordSpan] = []
        keeps_tombstones = False
        explain, end_offset = self._explain, self._end_offset
        latest_offsets = self._map.latest([span[5] for span in spans])
        for span, latest_offset in zip(spans, latest_offsets, strict=True):
            offset = base_offset + span[4]
            detail: int | None = None
            if latest_offset > offset:
                verdict, detail = _NEWER, latest_offset
            elif offset >= end_offset:
                verdict, detail = Verdict.KEPT_NOT_REACHED, end_offset
            elif span[5] is None:
                verdict = Verdict.DROPPED_WITHOUT_KEY
            elif span[6]:
                verdict, detail = self._judge_tombstone(horizon_ms, magic)
            else:
                verdict = _LATEST
            if verdict.keeps:
                kept.append(span)
                keeps_tombstones = keeps_tombstones or span[6]
            if explain is not None:
                explain(RecordFate(offset, span[5], verdict, detail))
        return kept, keeps_tombstones

    def _judge_tombstone(self, horizon_ms: int | None, magic: int) -> tuple[Verdict, int | None]:
        if magic < 2:
            if self.keeps_old_tombstones:
                return Verdict.KEPT_OLD_TOMBSTONE, None
            return Verdict.DROPPED_TOMBSTONE, None
        if horizon_ms is None:
            return Verdict.KEPT_TOMBSTONE, self._horizon_ms
        if self._now_ms < horizon_ms:
            return Verdict.KEPT_TOMBSTONE, horizon_ms
        return Verdict.DROPPED_TOMBSTONE, horizon_ms
