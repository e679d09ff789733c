"""What a producer sent and the topic does not take as it is: judged, and rewritten by its rules.

Old formats, other codecs, LogAppendTime, keys and timestamps to check. What may take long is apart,
in `prepare`, so that a thread can do it: a kilobyte may hold ten million records.
"""

from __future__ import annotations

from ottla.protocol.errors import ErrorCode, InvalidRecords, KafkaError
from ottla.protocol.records.batch import (
    BATCH_OVERHEAD,
    BatchHeader,
    patch_batch,
    patch_timestamp,
    read_header,
    unpack_header,
)
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.convert import recompress, up_convert
from ottla.protocol.records.layout import CODEC_MASK, LOG_APPEND_TIME_BIT, MAGIC_AT, NO_TIMESTAMP
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.config import FOREVER, LogConfig, TimestampPolicy
from ottla.storage.incoming import Incoming, check_client_batch
from ottla.storage.segment import Append

# What is looked at or compressed on the loop: about a millisecond's work.
_FEW_RECORDS = 500
_FEW_BYTES = 64 * 1024
_MOST_WRONG = 10_000  # records of a batch that a producer is told of
_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


def needs_work(view: memoryview, config: LogConfig) -> bool:
    """Whether the long way takes so long that others would have to wait: see `prepare`.

    Nobody knows how much there is in what is compressed.
    """
    if len(view) < BATCH_OVERHEAD:
        return False
    if view[MAGIC_AT] < 2 or config.message_magic < 2:
        return True
    fields: tuple[int, ...] = unpack_header(view)
    codec = fields[5] & CODEC_MASK
    if config.compacts or _checks_times(config):
        return codec != Codec.NONE or fields[12] > _FEW_RECORDS
    is_kept = config.compression_type == "producer" or _CODECS[config.compression_type] == codec
    return not is_kept and (codec != Codec.NONE or len(view) > _FEW_BYTES)


def prepare(view: memoryview, config: LogConfig, *, now_ms: int) -> memoryview:
    """What `take` does record by record, and needs no offset for; on any thread.

    Of topics in an old format only the checks: the offsets are within what is compressed.
    """
    view, batches = _read(view)
    _check(batches, config, now_ms=now_ms)
    if config.message_magic < 2:
        return view
    codec, header = _target_codec(batches, config), batches[0].header
    if header is None:
        prepared = up_convert(view, to_magic=2, codec=codec, level=config.compression_level)
    elif codec is not header.codec:
        prepared = recompress(view, codec=codec, level=config.compression_level)
    else:
        return view
    return memoryview(bytearray(prepared))


def take(
    view: memoryview,
    config: LogConfig,
    *,
    next_offset: int,
    leader_epoch: int,
    now_ms: int,
    is_prepared: bool = False,
) -> Incoming:
    """The long way: whatever was sent, in the topic's format, codec and kind of timestamp."""
    # What was prepared for an old format is nothing for a new one: the topic has changed meanwhile.
    if not is_prepared or view[MAGIC_AT] < 2 == config.message_magic:
        view = prepare(view, config, now_ms=now_ms)
    log_append_time = None
    if config.timestamp_policy is TimestampPolicy.LOG_APPEND_TIME:
        log_append_time = now_ms
    if config.message_magic == 2:
        _stamp(view, log_append_time)
        patch_batch(view, read_header(view), base_offset=next_offset, leader_epoch=leader_epoch)
    else:
        codec = _target_codec(list(read_batches(view, check_crc=False)), config)
        view = memoryview(
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
    return _incoming(view, config, next_offset, log_append_time)


def _read(view: memoryview) -> tuple[memoryview, list[Batch]]:
    batches = list(read_batches(view))
    if not batches:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "the record set holds no whole batch")
    # What follows the last whole batch is nothing, as in Kafka.
    return view[: sum(batch.size_bytes for batch in batches)], batches


def _incoming(
    data: memoryview, config: LogConfig, next_offset: int, log_append_time: int | None
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
    header = read_header(data) if config.message_magic == 2 else None
    return Incoming(append, header, NO_TIMESTAMP if log_append_time is None else log_append_time)


def _check(batches: list[Batch], config: LogConfig, *, now_ms: int) -> None:
    """Against the topic's rules, the records included where needed."""
    limits = None
    if _checks_times(config):
        limits = config.timestamp_before_max_ms, config.timestamp_after_max_ms
    for batch in batches:
        if batch.header is not None:
            _check_header(batch.header, batch.size_bytes, config)
        if limits or config.compacts:
            _check_records(batch, config, now_ms=now_ms, limits=limits)
    if batches[0].header is not None and len(batches) > 1:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"{len(batches)} batches where one may be")


def _check_header(header: BatchHeader, size_bytes: int, config: LogConfig) -> None:
    check_client_batch(header, size_bytes, config)
    if config.message_magic < 2 and (header.producer_id >= 0 or header.is_transactional):
        detail = "idempotent and transactional records need the message format 0.11 or later"
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, detail)


def _checks_times(config: LogConfig) -> bool:
    return config.timestamp_policy is TimestampPolicy.CREATE_TIME and (
        config.timestamp_before_max_ms != FOREVER or config.timestamp_after_max_ms != FOREVER
    )


def _check_records(
    batch: Batch, config: LogConfig, *, now_ms: int, limits: tuple[int, int] | None
) -> None:
    """All that are wrong, so that a producer can send the others again; but no endless list."""
    keyless: list[tuple[int, str]] = []
    untimely: list[tuple[int, str]] = []
    for index, record in enumerate(batch.each_record()):
        if len(keyless) + len(untimely) >= _MOST_WRONG:
            break
        if config.compacts and record.key is None:
            keyless.append((index, "a compacted topic takes no record without key"))
        late_by = record.timestamp - now_ms
        if limits and record.timestamp != NO_TIMESTAMP and not -limits[0] <= late_by <= limits[1]:
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


def _stamp(view: memoryview, log_append_time: int | None) -> None:
    """The topic's kind of timestamp."""
    header = read_header(view)
    if log_append_time is not None:
        patch_timestamp(view, max_timestamp=log_append_time, log_append_time=True)
    elif header.attributes & LOG_APPEND_TIME_BIT:  # which only a broker can give
        patch_timestamp(view, max_timestamp=header.max_timestamp, log_append_time=False)
