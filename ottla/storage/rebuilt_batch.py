"""A batch from which records were dropped. Offsets, sequence numbers and the leader's epoch stay
as they were, so that producers and followers notice nothing; timestamps follow from what is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.records.batch import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    seal_batch,
)
from ottla.protocol.records.compression import compress
from ottla.protocol.records.layout import CODEC_MASK, LOG_APPEND_TIME_BIT, NO_TIMESTAMP
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch
from ottla.storage.record_spans import RecordSpan, wrap_int64, write_spans

_WITHOUT_RECORDS = LOG_APPEND_TIME_BIT | TRANSACTIONAL_BIT | CONTROL_BIT


def emptied(header: BatchHeader) -> bytes:
    """Only the header, for what it says of its producer; the largest timestamp stays."""
    return seal_batch(
        header._replace(
            attributes=header.attributes & _WITHOUT_RECORDS,
            base_timestamp=NO_TIMESTAMP,
            record_count=0,
        ),
        b"",
    )


def rebuilt(
    header: BatchHeader,
    payload: bytes,
    spans: Sequence[RecordSpan],
    *,
    delete_horizon_ms: int | None,
) -> bytes:
    """The records of these spans, at least one, in a batch of the same codec."""
    attributes = header.attributes & (_WITHOUT_RECORDS | CODEC_MASK)
    if attributes & LOG_APPEND_TIME_BIT:
        timestamps = [header.max_timestamp] * len(spans)
    else:
        timestamps = [wrap_int64(header.base_timestamp + span[1]) for span in spans]
    base_timestamp = timestamps[0]
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON_BIT
        base_timestamp = delete_horizon_ms
    deltas = [wrap_int64(timestamp - base_timestamp) for timestamp in timestamps]
    plain = write_spans(payload, spans, deltas)
    return seal_batch(
        header._replace(
            attributes=attributes,
            base_timestamp=base_timestamp,
            max_timestamp=max(timestamps),
            record_count=len(spans),
        ),
        compress(header.codec, plain),
    )


def rebuilt_messages(batch: Batch, records: Sequence[Record]) -> bytes:
    """The same for a batch of an old format: a message, or a wrapper of several."""
    return build_message_set(
        records, magic=batch.magic, codec=batch.codec, log_append_time=batch.log_append_time
    )
