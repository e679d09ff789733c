"""What a producer sent and the topic takes as it is: nearly always.

Of one v2 batch only the header is read, and patched in place. Everything else (old formats, other
codecs, LogAppendTime, keys and timestamps to check) goes the long way, in `long_way.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.checksum import crc32c
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import (
    BATCH_OVERHEAD,
    CHECKED_FROM,
    CONTROL_BIT,
    BatchHeader,
    patch_into,
    unpack_header,
)
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.layout import (
    CODEC_MASK,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
)
from ottla.storage.config import FOREVER, LogConfig, TimestampPolicy
from ottla.storage.segment import Append

_LAST_CODEC = int(Codec.ZSTD)
_SPECIAL = LOG_APPEND_TIME_BIT | CONTROL_BIT


class Incoming(NamedTuple):
    """A record set with its offsets assigned; the header if it is one v2 batch."""

    append: Append
    header: BatchHeader | None
    log_append_time: int = NO_TIMESTAMP


def takes_batches_as_they_are(config: LogConfig) -> bool:
    """Whether a v2 batch needs no look at its records: the rule for nearly every topic."""
    return not config.compacts and config.compression_type == "producer" and _keeps_times(config)


def takes_own_batches(config: LogConfig) -> bool:
    """Whether one does that this broker made itself, with the keys that compaction needs.

    Where nothing is to be compressed it did not do so.
    """
    return config.compression_type in ("producer", "uncompressed") and _keeps_times(config)


def _keeps_times(config: LogConfig) -> bool:
    return (
        config.message_magic == 2
        and config.timestamp_policy is TimestampPolicy.CREATE_TIME
        and config.timestamp_before_max_ms == FOREVER
        and config.timestamp_after_max_ms == FOREVER
    )


def check_size(size_bytes: int, config: LogConfig) -> None:
    """Of one batch, whoever made it."""
    if size_bytes > config.segment_bytes:
        detail = f"a batch of {size_bytes} bytes, segment.bytes is {config.segment_bytes}"
        raise KafkaError(ErrorCode.RECORD_LIST_TOO_LARGE, detail)
    if size_bytes > config.max_message_bytes:
        detail = f"a batch of {size_bytes} bytes, max.message.bytes is {config.max_message_bytes}"
        raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, detail)


def check_client_batch(header: BatchHeader, size_bytes: int, config: LogConfig) -> None:
    """What a client may not send, from the header alone."""
    count = header.record_count
    check_size(size_bytes, config)
    if count <= 0 or header.last_offset_delta != count - 1 or header.base_offset != 0:
        detail = (
            f"{count} records from offset {header.base_offset} with a last offset delta of "
            f"{header.last_offset_delta}"
        )
        raise KafkaError(ErrorCode.INVALID_RECORD, detail)
    if header.is_control:
        raise KafkaError(ErrorCode.INVALID_RECORD, "only brokers write control batches")
    if header.producer_id >= 0 and header.base_sequence < 0:
        detail = f"producer {header.producer_id} sent the sequence {header.base_sequence}"
        raise KafkaError(ErrorCode.INVALID_RECORD, detail)


def fields_as_they_are(view: memoryview, config: LogConfig) -> tuple[int, ...] | None:
    """One v2 batch, checked by its header and checksum. None if it needs the long way.

    Those of `BatchHeader`, by number, and few conditions for all rules: this runs for every batch.
    """
    size_bytes = len(view)
    if size_bytes < BATCH_OVERHEAD:
        return None
    fields: tuple[int, ...] = unpack_header(view)
    attributes = fields[5]
    if (
        fields[3] != 2
        or fields[1] + LOG_OVERHEAD != size_bytes
        or attributes & _SPECIAL
        or attributes & CODEC_MASK > _LAST_CODEC
        or fields[4] != crc32c(view[CHECKED_FROM:])
    ):
        return None
    if (
        fields[0]
        or fields[6] < 0
        or fields[6] + 1 != fields[12]
        or fields[9] >= 0 > fields[11]
        or size_bytes > config.max_message_bytes
        or size_bytes > config.segment_bytes
    ):
        check_client_batch(BatchHeader(*fields), size_bytes, config)
    return fields


def take_as_it_is(
    view: memoryview, fields: tuple[int, ...], *, next_offset: int, leader_epoch: int
) -> Incoming:
    """The short way: only what a leader assigns is written into the batch."""
    header = BatchHeader(*fields)
    patch_into(view, 0, next_offset, header[1], leader_epoch)
    last_offset = next_offset + header[6]
    return Incoming(Append(view, next_offset, last_offset, header[8], last_offset), header)
