"""The lines for the small files beside a log: Kafka's words where its tool has any, else ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.logtools.line import Line, optional_long, plain, scala_option
from ottla.protocol.readable import uuid_text
from ottla.storage import checkpoints
from ottla.storage.properties import META_PROPERTIES, parse_properties
from ottla.storage.snapshots import parse_snapshot
from ottla.storage.transactions import parse_transaction_index


def transaction_index_lines(data: bytes, path: str) -> Iterator[Line]:
    for entry in parse_transaction_index(data, path):
        yield plain(
            "aborted transaction",
            version=0,
            producerId=entry.producer_id,
            firstOffset=entry.first_offset,
            lastOffset=entry.last_offset,
            lastStableOffset=entry.last_stable_offset,
        )


def snapshot_lines(data: bytes, path: str, *, old: bool) -> Iterator[Line]:
    """`old` is Kafka 2.0's form, which knows one timestamp less."""
    for state in parse_snapshot(data, path):
        line = Line("producer").add("producerId", state.producer_id)
        line.add("producerEpoch", state.epoch).add("coordinatorEpoch", state.coordinator_epoch)
        open_at = None if state.transaction_start < 0 else state.transaction_start
        shown = scala_option(open_at) if old else optional_long(open_at)
        line.add("currentTxnFirstOffset", open_at, text=shown)
        if not old:
            line.add("lastTimestamp", state.last_timestamp)
        for batch in state.batches:
            line.add("firstSequence", batch.first_sequence)
            line.add("lastSequence", batch.last_sequence).add("lastOffset", batch.last_offset)
            line.add("offsetDelta", batch.offset_delta).add("timestamp", batch.timestamp)
        yield line


def _offsets_lines(data: bytes, path: str) -> Iterator[Line]:
    for (topic, partition), offset in checkpoints.parse_offsets(data, path).items():
        yield plain("checkpoint", topic=topic, partition=partition, offset=offset)


def _leader_epoch_lines(data: bytes, path: str) -> Iterator[Line]:
    for epoch, start_offset in checkpoints.parse_leader_epochs(data, path):
        yield plain("leader epoch", epoch=epoch, startOffset=start_offset)


def _partition_lines(data: bytes, path: str) -> Iterator[Line]:
    topic_id = uuid_text(checkpoints.parse_partition_metadata(data, path))
    yield plain("partition", topicId=topic_id)


def _properties_lines(data: bytes, path: str) -> Iterator[Line]:
    properties = parse_properties(data, path)
    yield from (Line("property").add(name, value) for name, value in properties.items())


def _clean_shutdown_lines(data: bytes, path: str) -> Iterator[Line]:
    yield plain("clean shutdown", brokerEpoch=checkpoints.parse_clean_shutdown(data, path))


# Those that Kafka's tool does not know; by name, which each has alone in its folder.
TEXT_FILES: dict[str, Callable[[bytes, str], Iterator[Line]]] = {
    checkpoints.HIGH_WATERMARKS: _offsets_lines,
    checkpoints.RECOVERY_POINTS: _offsets_lines,
    checkpoints.LOG_STARTS: _offsets_lines,
    checkpoints.CLEANED_UP_TO: _offsets_lines,
    checkpoints.LEADER_EPOCHS: _leader_epoch_lines,
    checkpoints.PARTITION_METADATA: _partition_lines,
    checkpoints.CLEAN_SHUTDOWN: _clean_shutdown_lines,
    META_PROPERTIES: _properties_lines,
}
