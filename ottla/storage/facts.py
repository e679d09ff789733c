"""A log as the rules of retention and compaction see it: plain values."""

from __future__ import annotations

from ottla.storage.cleaning_plan import LogFacts
from ottla.storage.log import Log
from ottla.storage.retention import SegmentFacts
from ottla.storage.segment import Segment
from ottla.storage.transaction_trail import ActiveProducer


def segment_facts(log: Log) -> list[SegmentFacts]:
    log.commit()
    return [_facts(log, segment) for segment in log.segments]


def _facts(log: Log, segment: Segment) -> SegmentFacts:
    status = log.disk.status(segment.path(".log"))
    largest = segment.largest_timestamp()
    return SegmentFacts(
        base_offset=segment.base_offset,
        size_bytes=segment.size_bytes,
        modified_ms=status.modified_ms if status else 0,
        max_timestamp=largest,
        first_timestamp=-1 if segment.first_timestamp is None else segment.first_timestamp,
        created_ms=segment.created_ms,
        index_bytes=segment.offset_index.size_bytes,
        time_index_bytes=segment.time_index.size_bytes,
    )


def log_facts(log: Log, *, checkpoint: int | None) -> LogFacts:
    return LogFacts(
        segments=segment_facts(log),
        log_start_offset=log.log_start_offset,
        log_end_offset=log.next_offset,
        last_stable_offset=log.last_stable_offset,
        checkpoint=checkpoint,
        config=log.config,
    )


def active_producers(log: Log) -> list[ActiveProducer]:
    return [
        ActiveProducer(
            state.producer_id,
            state.epoch,
            state.batches[-1].last_offset if state.batches else None,
        )
        for state in log.producers.active_producers()
    ]
