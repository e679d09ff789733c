"""What a producer sent, judged by the topic's rules and made ready to be written.

Nearly always that is one v2 batch of which only the header is read and patched in place. Everything
else (old formats, other codecs, LogAppendTime, keys and timestamps to check) takes the long way.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.checksum import crc32c
from ottla.protocol.errors import ErrorCode, InvalidRecords, KafkaError
from ottla.protocol.records.batch import (
    BATCH_OVERHEAD,
    CHECKED_FROM,
    CONTROL_BIT,
    BatchHeader,
    patch_batch,
    patch_into,
    patch_timestamp,
    read_header,
    unpack_header,
)
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.convert import recompress, up_convert
from ottla.protocol.records.layout import CODEC_MASK, LOG_APPEND_TIME_BIT, LOG_OVERHEAD
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.config import FOREVER, LogConfig, TimestampPolicy
from ottla.storage.segment import Append

_NO_TIMESTAMP = -1
_LAST_CODEC = int(Codec.ZSTD)
_SPECIAL = LOG_APPEND_TIME_BIT | CONTROL_BIT
_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


class Incoming(NamedTuple):
    """A record set with its offsets assigned; the header if it is one v2 batch."""

    append: Append
    header: BatchHeader | None
    log_append_time: int = _NO_TIMESTAMP


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


def take(
    view: memoryview, config: LogConfig, *, next_offset: int, leader_epoch: int, now_ms: int
) -> Incoming:
    """The long way: whatever was sent, in the topic's format, codec and kind of timestamp."""
    batches = list(read_batches(view))
    if not batches:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "the record set holds no whole batch")
    # What follows the last whole batch is nothing, as in Kafka.
    view = view[: sum(batch.size_bytes for batch in batches)]
    for batch in batches:
        _check(batch, config, now_ms=now_ms)
    header = batches[0].header
    if header is not None and len(batches) > 1:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"{len(batches)} batches where one may be")
    codec = _target_codec(batches, config)
    log_append_time = None
    if config.timestamp_policy is TimestampPolicy.LOG_APPEND_TIME:
        log_append_time = now_ms
    if header is not None and config.message_magic == 2:
        data = _rewrite(view, header, codec, config, log_append_time)
        patch_batch(data, read_header(data), base_offset=next_offset, leader_epoch=leader_epoch)
    else:
        data = memoryview(
            bytearray(
                up_convert(
                    view,
                    to_magic=config.message_magic,
                    codec=codec,
                    level=config.compression_level,
                    base_offset=next_offset,
                    leader_epoch=leader_epoch,
                    log_append_time=log_append_time,
                )
            )
        )
    return _incoming(data, header, config, next_offset, log_append_time)


def _incoming(
    data: memoryview,
    sent: BatchHeader | None,
    config: LogConfig,
    next_offset: int,
    log_append_time: int | None,
) -> Incoming:
    written = list(read_batches(data, check_crc=False))
    for batch in written:
        if batch.size_bytes > config.max_message_bytes:
            detail = f"{batch.size_bytes} bytes, max.message.bytes is {config.max_message_bytes}"
            raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, detail)
    latest = max(written, key=lambda batch: batch.max_timestamp)
    append = Append(
        data, next_offset, written[-1].last_offset, latest.max_timestamp, latest.last_offset
    )
    header = None if sent is None or config.message_magic < 2 else read_header(data)
    return Incoming(append, header, _NO_TIMESTAMP if log_append_time is None else log_append_time)


def _check(batch: Batch, config: LogConfig, *, now_ms: int) -> None:
    """One batch or old message against the topic's rules, its records included where needed."""
    if batch.header is not None:
        check_client_batch(batch.header, batch.size_bytes, config)
        if config.message_magic < 2 and (
            batch.header.producer_id >= 0 or batch.header.is_transactional
        ):
            detail = "idempotent and transactional records need the message format 0.11 or later"
            raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, detail)
    before, after = config.timestamp_before_max_ms, config.timestamp_after_max_ms
    checks_time = config.timestamp_policy is TimestampPolicy.CREATE_TIME and (
        before != FOREVER or after != FOREVER
    )
    if not checks_time and not config.compacts:
        return
    limits = (before, after) if checks_time else None
    _check_records(batch, config, now_ms=now_ms, limits=limits)


def _check_records(
    batch: Batch, config: LogConfig, *, now_ms: int, limits: tuple[int, int] | None
) -> None:
    """All that are wrong, so that a producer can send the others again."""
    keyless, untimely = [], []
    for index, record in enumerate(batch.records()):
        if config.compacts and record.key is None:
            keyless.append((index, "a compacted topic takes no record without key"))
        late_by = record.timestamp - now_ms
        if limits and record.timestamp != _NO_TIMESTAMP and not -limits[0] <= late_by <= limits[1]:
            detail = f"timestamp {record.timestamp} is not within {limits[0]} ms before {now_ms}"
            untimely.append((index, f"{detail} and {limits[1]} ms after it"))
    if keyless:
        raise InvalidRecords(ErrorCode.INVALID_RECORD, keyless[0][1], keyless)
    if untimely:
        raise InvalidRecords(ErrorCode.INVALID_TIMESTAMP, untimely[0][1], untimely)


def _target_codec(batches: list[Batch], config: LogConfig) -> Codec:
    if config.compression_type == "producer":
        return next((batch.codec for batch in batches if batch.codec), Codec.NONE)
    return _CODECS[config.compression_type]


def _rewrite(
    view: memoryview,
    header: BatchHeader,
    codec: Codec,
    config: LogConfig,
    log_append_time: int | None,
) -> memoryview:
    """The batch in the topic's codec and with its kind of timestamp; in place if it can be."""
    if codec is not header.codec:
        view = memoryview(bytearray(recompress(view, codec=codec, level=config.compression_level)))
    if log_append_time is not None:
        patch_timestamp(view, max_timestamp=log_append_time, log_append_time=True)
    elif header.attributes & LOG_APPEND_TIME_BIT:  # which only a broker can give
        patch_timestamp(view, max_timestamp=header.max_timestamp, log_append_time=False)
    return view
