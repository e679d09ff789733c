"""What a consumer of committed records makes of a log, by the rules that every client follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.log import Log
from ottla.storage.transactions import AbortedTransaction


def committed_records(log: Log, offset: int, *, max_bytes: int = 1_000_000) -> Iterator[Record]:
    """Fetch by fetch, each with its own list of what was aborted, up to the last stable offset."""
    up_to = log.last_stable_offset
    while (found := log.read(offset, max_bytes=max_bytes, up_to=up_to)) is not None:
        before = offset
        batches = list(read_batches(found.read()))
        for record in sort_out(batches, log.aborted_transactions(found, offset)):
            if record.offset >= before:
                yield record
        offset = max(offset, batches[-1].last_offset + 1)


def sort_out(batches: Sequence[Batch], aborted: Sequence[AbortedTransaction]) -> Iterator[Record]:
    """Of a producer on the list nothing counts from there on until it has ended with an abort."""
    waiting = sorted(aborted, key=lambda each: each.first_offset)
    skipped: dict[int, None] = {}
    for batch in batches:
        while waiting and waiting[0].first_offset <= batch.last_offset:
            skipped[waiting.pop(0).producer_id] = None
        header = batch.header
        if header is None:
            yield from batch.records()
        elif header.is_control:
            if _is_abort(batch):
                skipped.pop(header.producer_id, None)
        elif not (header.is_transactional and header.producer_id in skipped):
            yield from batch.records()


def _is_abort(batch: Batch) -> bool:
    records = batch.records()  # compaction may have left an empty batch
    return bool(records) and read_control_type(records[0].key) is ControlType.ABORT
