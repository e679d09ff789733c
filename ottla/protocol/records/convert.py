"""From one format to another: what old clients are sent, what they send, and other codecs.

The results are those of an Apache Kafka 3.9 broker, byte for byte where nothing is compressed.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import (
    MAX_UNCOMPRESSED_BYTES,
    build_batch,
    read_header,
    read_payload,
    seal_batch,
)
from ottla.protocol.records.compression import Codec, compress
from ottla.protocol.records.layout import CODEC_MASK, LOG_OVERHEAD
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.protocol.varint import Buffer

_PADDING = Struct(">qi")
_SMALLEST_PADDING_LENGTH = 61  # a reader refuses a batch that claims less
_CHUNK_BYTES = 128 * 1024  # what the broker converts, or pads, at a time


def down_convert(data: Buffer, *, to_magic: int, first_offset: int) -> bytes:
    """A record set as a reader of `to_magic` and older can take it.

    Offsets and codecs stay; control batches and headers go. Of an uncompressed batch only the
    records from `first_offset` on remain: some versions of librdkafka rely on it.
    """
    return _down_convert(read_batches(data), to_magic, first_offset)


def _down_convert(batches: Iterable[Batch], to_magic: int, first_offset: int) -> bytes:
    out: list[bytes] = []
    for batch in batches:
        if to_magic < 2 and batch.is_control:
            continue
        if to_magic < 2 and batch.codec is Codec.ZSTD:
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs magic 2")
        if batch.magic <= to_magic:
            out.append(bytes(batch.view))
            continue
        records = batch.records()
        if batch.codec is Codec.NONE:
            records = [record for record in records if record.offset >= first_offset]
        out.append(
            build_message_set(
                records, magic=to_magic, codec=batch.codec, log_append_time=batch.log_append_time
            )
        )
    return b"".join(out)


def down_convert_for_fetch(data: Buffer, *, to_magic: int, first_offset: int) -> bytes:
    """The converted set in as many bytes as Kafka announces for it before converting it all.

    That is the size of the stored set, or of its first converted batch if that is larger, so that a
    consumer always gets on. What is left over is filled by the start of a batch that never ends.
    """
    batches = list(read_batches(data))
    first = b""
    for batch in batches:
        first = _down_convert([batch], to_magic, first_offset)
        if first:
            break
    if not first:
        return _padding(LOG_OVERHEAD) if batches else b""
    out = bytearray(first)
    size = max(len(data), len(first))
    # Kafka goes on behind the first batch of the set even where the first batch that left something
    # is a later one. That one is then sent twice; consumers skip offsets they have seen.
    for chunk in _chunks(batches[1:]):
        if len(out) >= size:
            break
        try:
            out += _down_convert(chunk, to_magic, first_offset)
        except KafkaError as refusal:
            if refusal.code is not ErrorCode.UNSUPPORTED_COMPRESSION_TYPE:
                raise
            break  # the consumer comes back for the zstd batch and hears the error then
    del out[size:]
    while len(out) < size:
        out += _padding(size - len(out))
    return bytes(out)


def _chunks(batches: list[Batch]) -> Iterable[list[Batch]]:
    chunk: list[Batch] = []
    size = 0
    for batch in batches:
        if chunk and size + batch.size_bytes > _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(batch)
        size += batch.size_bytes
    if chunk:
        yield chunk


def _padding(size: int) -> bytes:
    """The head of a batch one byte longer than there is room for, so every reader ignores it."""
    length = max(size + 1, _SMALLEST_PADDING_LENGTH)
    return (_PADDING.pack(-1, length) + bytes(max(0, min(size, _CHUNK_BYTES) - LOG_OVERHEAD)))[
        :size
    ]


def up_convert(
    data: Buffer,
    *,
    to_magic: int = 2,
    codec: Codec | None = None,
    level: int | None = None,
    base_offset: int = 0,
    leader_epoch: int = -1,
    log_append_time: int | None = None,
    limit: int = MAX_UNCOMPRESSED_BYTES,
) -> bytes:
    """What a producer sent, in the topic's format, its offsets assigned from `base_offset` on.

    All records go into one batch. Without a `codec` they keep theirs (compression.type=producer).
    """
    records: list[Record] = []
    source = Codec.NONE
    for batch in read_batches(data, limit=limit):
        source = batch.codec or source
        for record in batch.records():
            record.offset = base_offset + len(records)
            records.append(record)
    if codec is None:
        codec = source
    if not records:
        return b""
    if to_magic < 2:
        if codec is Codec.ZSTD:
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs magic 2")
        if any(record.headers for record in records):
            detail = "record headers need the message format 0.11 or later"
            raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, detail)
        return build_message_set(
            records, magic=to_magic, codec=codec, level=level, log_append_time=log_append_time
        )
    return build_batch(
        records,
        codec=codec,
        level=level,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        log_append_time=log_append_time,
    )


def recompress(
    view: Buffer, *, codec: Codec, level: int | None = None, limit: int = MAX_UNCOMPRESSED_BYTES
) -> bytes:
    """The same v2 batch in another codec or level; no other field changes, no record is parsed."""
    header = read_header(view)
    payload = read_payload(view, header, limit=limit)
    if payload:
        payload = compress(codec, payload, level=level)
    attributes = header.attributes & ~CODEC_MASK | codec
    return seal_batch(header._replace(attributes=attributes), payload)
