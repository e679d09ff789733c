"""The lines for the small files beside a log: Kafka's words where its tool has any, else ours."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.logtools.line import Line, optional_long, plain, scala_option
from ottla.logtools.state_files import parse_snapshot, parse_transaction_index
from ottla.protocol.records.batch import increment_sequence


def transaction_index_lines(data: bytes) -> Iterator[Line]:
    for entry in parse_transaction_index(data):
        yield plain(
            "aborted transaction",
            version=entry.version,
            producerId=entry.producer_id,
            firstOffset=entry.first_offset,
            lastOffset=entry.last_offset,
            lastStableOffset=entry.last_stable_offset,
        )


def snapshot_lines(data: bytes, *, old: bool) -> Iterator[Line]:
    """`old` is Kafka 2.0's form, which knows one timestamp less."""
    for entry in parse_snapshot(data):
        line = Line("producer").add("producerId", entry.producer_id)
        line.add("producerEpoch", entry.epoch).add("coordinatorEpoch", entry.coordinator_epoch)
        open_at = None if entry.first_open_offset < 0 else entry.first_open_offset
        shown = scala_option(open_at) if old else optional_long(open_at)
        line.add("currentTxnFirstOffset", open_at, text=shown)
        if not old:
            line.add("lastTimestamp", entry.timestamp)
        if entry.last_offset >= 0:
            first = increment_sequence(entry.last_sequence, -entry.offset_delta)
            line.add("firstSequence", first).add("lastSequence", entry.last_sequence)
            line.add("lastOffset", entry.last_offset).add("offsetDelta", entry.offset_delta)
            line.add("timestamp", entry.timestamp)
        yield line
