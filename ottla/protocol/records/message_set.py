"""Messages of the old formats, magic 0 and 1, and the wrappers that hold compressed ones."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from ottla.protocol.records.compression import Codec, compress, decompress
from ottla.protocol.records.layout import (
    CODEC_MASK,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC_AT,
    NO_TIMESTAMP,
    TimestampType,
)
from ottla.protocol.records.record import Record
from ottla.protocol.records.refusals import corrupt, invalid
from ottla.protocol.varint import Buffer

MESSAGE_OVERHEAD = (14, 22)  # by magic: what a message without key and value takes

_READING = "message"
_ENTRY = Struct(">qiIbb")  # offset, size, then the message: crc, magic, attributes
_INT64 = Struct(">q")
_LENGTH = Struct(">i")
_CRC = Struct(">I")
_START = Struct(">qi")
_CRC_AT = 12
_BODY_AT = (18, 26)  # by magic: where the key's length stands


class Message(NamedTuple):
    """One entry of a message set; compressed, its value is a message set itself."""

    offset: int
    size_bytes: int
    crc: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> Codec:
        return Codec(self.attributes & CODEC_MASK)

    @property
    def timestamp_type(self) -> TimestampType:
        if self.magic == 0:
            return TimestampType.NONE
        return TimestampType(self.attributes >> 3 & 1)


def read_message(view: Buffer) -> Message:
    """The whole entry that `view` starts with, its checksum checked."""
    if len(view) < LOG_OVERHEAD + MESSAGE_OVERHEAD[0]:
        raise corrupt(
            f"{len(view)} bytes are fewer than a message", reading=_READING, path="size", offset=8
        )
    offset, length, crc, magic, attributes = _ENTRY.unpack_from(view)
    if magic not in (0, 1):
        raise corrupt(f"magic {magic}", reading=_READING, path="magic", offset=MAGIC_AT)
    end = LOG_OVERHEAD + length
    if length < MESSAGE_OVERHEAD[magic] or end > len(view):
        raise corrupt(
            f"size {length} in a buffer of {len(view)} bytes",
            reading=_READING,
            path="size",
            offset=8,
        )
    message = bytes(view[:end])
    if crc != crc32(memoryview(message)[MAGIC_AT:]):
        raise corrupt("the checksum is wrong", reading=_READING, path="crc", offset=_CRC_AT)
    if attributes & CODEC_MASK > Codec.ZSTD:
        raise corrupt("an unknown codec", reading=_READING, path="attributes", offset=17)
    timestamp = _INT64.unpack_from(message, 18)[0] if magic else NO_TIMESTAMP
    key, pos = _read_bytes(message, _BODY_AT[magic], "key")
    value, _ = _read_bytes(message, pos, "value")
    return Message(offset, end, crc, magic, attributes, timestamp, key, value)


def _read_bytes(message: bytes, pos: int, path: str) -> tuple[bytes | None, int]:
    if pos + 4 > len(message):
        raise corrupt("the length is cut off", reading=_READING, path=path, offset=pos)
    (length,) = _LENGTH.unpack_from(message, pos)
    pos += 4
    if length < 0:
        return None, pos
    if length > len(message) - pos:
        raise corrupt(
            f"{length} bytes in {len(message) - pos}", reading=_READING, path=path, offset=pos
        )
    return message[pos : pos + length], pos + length


def read_message_records(message: Message, *, limit: int) -> list[Record]:
    """The records of one entry: itself, or what it wraps, with absolute offsets."""
    if not message.attributes & CODEC_MASK:
        return [Record(message.offset, message.timestamp, message.key, message.value)]
    if message.codec is Codec.ZSTD:
        raise invalid("zstd came with magic 2", reading=_READING, path="attributes")
    if message.value is None:
        raise invalid("a wrapper without a value", reading=_READING, path="value")
    plain = decompress(message.codec, message.value, limit=limit, magic=message.magic)
    inner = list(_read_inner(plain, message.magic))
    if not inner:
        raise invalid("a wrapper without messages", reading=_READING, path="value")
    # Magic 1 counts inner offsets from the first, and the wrapper has the offset of the last.
    # A wrapper at 0 comes from producers that leave it to the broker: its inner offsets hold.
    first = 0
    if message.magic == 1 and message.offset != 0:
        first = message.offset - inner[-1].offset
    append_time = None
    if message.timestamp_type is TimestampType.LOG_APPEND_TIME:
        append_time = message.timestamp
    return [
        Record(
            _checked_offset(first + entry.offset),
            entry.timestamp if append_time is None else append_time,
            entry.key,
            entry.value,
        )
        for entry in inner
    ]


def _read_inner(plain: bytes, magic: int) -> Iterator[Message]:
    view = memoryview(plain)
    pos = 0
    while pos < len(view):
        entry = read_message(view[pos:])
        if entry.magic != magic:
            raise invalid(
                f"magic {entry.magic} within magic {magic}", reading=_READING, path="value"
            )
        if entry.attributes & CODEC_MASK:
            raise invalid("compressed twice", reading=_READING, path="value")
        yield entry
        pos += entry.size_bytes


def _checked_offset(offset: int) -> int:
    if not -(1 << 63) <= offset < 1 << 63:
        raise invalid("an offset beyond 64 bits", reading=_READING, path="offset")
    return offset


def build_message(
    record: Record, *, magic: int, attributes: int = 0, offset: int | None = None
) -> bytes:
    """One entry; headers do not exist in these formats and are dropped."""
    parts = [bytes([magic, attributes])]
    if magic:
        parts.append(_INT64.pack(record.timestamp))
    for content in (record.key, record.value):
        if content is None:
            parts.append(_LENGTH.pack(-1))
        else:
            parts += (_LENGTH.pack(len(content)), content)
    message = b"".join(parts)
    start = _START.pack(record.offset if offset is None else offset, 4 + len(message))
    return start + _CRC.pack(crc32(message)) + message


def build_message_set(
    records: Sequence[Record],
    *,
    magic: int,
    codec: Codec = Codec.NONE,
    log_append_time: int | None = None,
    level: int | None = None,
) -> bytes:
    """The records one after the other, or in one wrapper if they are to be compressed."""
    attributes = 0
    timestamp = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    if magic == 1 and log_append_time is not None:
        attributes = LOG_APPEND_TIME_BIT
        timestamp = log_append_time
        records = [Record(r.offset, log_append_time, r.key, r.value) for r in records]
    if codec is Codec.NONE or not records:
        return b"".join(build_message(r, magic=magic, attributes=attributes) for r in records)
    first = records[0].offset if magic == 1 else 0
    plain = b"".join(
        build_message(r, magic=magic, attributes=attributes, offset=r.offset - first)
        for r in records
    )
    value = compress(codec, plain, magic=magic, level=level)
    wrapper = Record(records[-1].offset, timestamp, None, value)
    return build_message(wrapper, magic=magic, attributes=attributes | codec)
