"""Producer state from the batches of a log: what recovery does, and a follower with what it reads.

Nothing is checked here. What is in the log was accepted by a leader, and has happened.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.protocol.errors import KafkaError
from ottla.protocol.records.control import ControlType, read_control_type, read_coordinator_epoch
from ottla.protocol.records.record_set import Batch
from ottla.storage.files import CorruptLog
from ottla.storage.producer import ProducerState
from ottla.storage.producers import ProducerStates
from ottla.storage.transactions import CompletedTransaction

_ENDS = (ControlType.ABORT, ControlType.COMMIT)


def replay_batch(states: ProducerStates, batch: Batch, path: str) -> CompletedTransaction | None:
    """Apply one batch with the offset it has in the log."""
    header = batch.header
    if header is None or header.producer_id < 0:
        return None
    if not header.is_control:
        states.append(header, base_offset=header.base_offset, max_timestamp=header.max_timestamp)
        return None
    try:
        records = batch.records()
        if not records:
            return None  # compaction took the marker, and all of its transaction before that
        control_type = read_control_type(records[0].key)
        if control_type not in _ENDS:
            return None
        coordinator_epoch = read_coordinator_epoch(records[0].value)
    except KafkaError as error:
        raise CorruptLog(path, batch.position, f"a broken marker: {error.detail}") from error
    return states.end_transaction(
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        coordinator_epoch=coordinator_epoch,
        offset=header.base_offset,
        timestamp=records[0].timestamp,
        is_aborted=control_type is ControlType.ABORT,
    )


def rebuild(
    batches: Iterable[Batch],
    path: str,
    *,
    start_offset: int = 0,
    producers: Iterable[ProducerState] = (),
) -> tuple[ProducerStates, list[CompletedTransaction]]:
    """The state after these batches, begun from a snapshot at `start_offset`; what ended in them.

    A batch that lies wholly below the snapshot is in it already.
    """
    states = ProducerStates()
    states.load(producers, end_offset=start_offset)
    completed = []
    for batch in batches:
        if batch.last_offset >= start_offset:
            transaction = replay_batch(states, batch, path)
            if transaction is not None:
                completed.append(transaction)
    return states, completed
