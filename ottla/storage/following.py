"""Appends that are not judged: a leader has them already, and this is its copy."""

from __future__ import annotations

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.append_group import AppendGroup
from ottla.storage.log import Log
from ottla.storage.replay import replay_batch
from ottla.storage.segment import Append


def append_as_follower(log: Log, data: memoryview, *, now_ms: int) -> AppendGroup | None:
    """Queue whole batches as the leader has them, their offsets kept."""
    batches = list(read_batches(data))
    if not batches:
        return None
    size = batches[-1].position + batches[-1].size_bytes
    latest = max(batches, key=lambda batch: batch.max_timestamp)
    append = Append(
        data[:size],
        batches[0].base_offset,
        batches[-1].last_offset,
        latest.max_timestamp,
        latest.last_offset,
    )
    if append.first_offset < log.next_offset:
        detail = f"{log.folder}: offset {append.first_offset} after {log.next_offset - 1}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
    group = log.make_room(append.size_bytes, append[2], append[3], now_ms)
    _follow_epochs(log, batches)
    for batch in batches:
        log.track_producers(group)
        group.note_end(replay_batch(log.producers, batch, log.folder))
    log.queue(group, append)
    return group


def _follow_epochs(log: Log, batches: list[Batch]) -> None:
    for batch in batches:
        header, latest = batch.header, log.epochs.latest
        if header is None or header.partition_leader_epoch < 0:
            continue
        if latest is None or header.partition_leader_epoch > latest.epoch:
            log.epochs.assign(header.partition_leader_epoch, start_offset=header.base_offset)
