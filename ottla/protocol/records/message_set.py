"""Messages of the old formats, magic 0 and 1, and the wrappers that hold compressed ones."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.records.compression import Codec, compress, decompress
from ottla.protocol.records.record import NO_TIMESTAMP, Record, TimestampType
from ottla.protocol.varint import Buffer

LOG_OVERHEAD = 12
MESSAGE_OVERHEAD = (14, 22)  # by magic: what a message without key and value takes
CODEC_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08

_ENTRY = Struct(">qiIbb")  # offset, size, then the message: crc, magic, attributes
_INT64 = Struct(">q")
_LENGTH = Struct(">i")
_CRC = Struct(">I")
_START = Struct(">qi")
_CRC_AT = 12
_MAGIC_AT = 16
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
        raise _corrupt(f"{len(view)} bytes are fewer than a message", "size", 8)
    offset, length, crc, magic, attributes = _ENTRY.unpack_from(view)
    if magic not in (0, 1):
        raise _corrupt(f"magic {magic}", "magic", _MAGIC_AT)
    end = LOG_OVERHEAD + length
    if length < MESSAGE_OVERHEAD[magic] or end > len(view):
        raise _corrupt(f"size {length} in a buffer of {len(view)} bytes", "size", 8)
    message = bytes(view[:end])
    if crc != zlib.crc32(memoryview(message)[_MAGIC_AT:]):
        raise _corrupt("the checksum is wrong", "crc", _CRC_AT)
    if attributes & CODEC_MASK > Codec.ZSTD:
        raise _corrupt("an unknown codec", "attributes", 17)
    timestamp = _INT64.unpack_from(message, 18)[0] if magic else NO_TIMESTAMP
    key, pos = _read_bytes(message, _BODY_AT[magic], "key")
    value, _ = _read_bytes(message, pos, "value")
    return Message(offset, end, crc, magic, attributes, timestamp, key, value)


def _read_bytes(message: bytes, pos: int, path: str) -> tuple[bytes | None, int]:
    if pos + 4 > len(message):
        raise _corrupt("the length is cut off", path, pos)
    (length,) = _LENGTH.unpack_from(message, pos)
    pos += 4
    if length < 0:
        return None, pos
    if length > len(message) - pos:
        raise _corrupt(f"{length} bytes in {len(message) - pos}", path, pos)
    return message[pos : pos + length], pos + length


def read_message_records(message: Message, *, limit: int) -> list[Record]:
    """The records of one entry: itself, or what it wraps, with absolute offsets."""
    if not message.attributes & CODEC_MASK:
        return [Record(message.offset, message.timestamp, message.key, message.value)]
    if message.codec is Codec.ZSTD:
        raise _invalid("zstd came with magic 2", "attributes")
    if message.value is None:
        raise _invalid("a wrapper without a value", "value")
    plain = decompress(message.codec, message.value, limit=limit, magic=message.magic)
    inner = list(_read_inner(plain, message.magic))
    if not inner:
        raise _invalid("a wrapper without messages", "value")
    # Magic 1 counts inner offsets from the first, and the wrapper has the offset of the last.
    # A wrapper at 0 comes from producers that leave it to the broker: its inner offsets hold.
    first = 0
    if message.magic == 1 and message.offset != 0:
        first = message.offset - inner[-1].offset
    append_time = message.timestamp if message.attributes & LOG_APPEND_TIME_BIT else None
    if message.magic == 0:
        append_time = None
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
    while len(view) - pos >= LOG_OVERHEAD:
        entry = read_message(view[pos:])
        if entry.magic != magic:
            raise _invalid(f"magic {entry.magic} within magic {magic}", "value")
        if entry.attributes & CODEC_MASK:
            raise _invalid("compressed twice", "value")
        yield entry
        pos += entry.size_bytes


def _checked_offset(offset: int) -> int:
    if not -(1 << 63) <= offset < 1 << 63:
        raise _invalid("an offset beyond 64 bits", "offset")
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
    return start + _CRC.pack(zlib.crc32(message)) + message


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


def _corrupt(cause: str, path: str, offset: int) -> ProtocolError:
    return ProtocolError(
        cause, reading="message", path=path, offset=offset, code=ErrorCode.CORRUPT_MESSAGE
    )


def _invalid(cause: str, path: str) -> ProtocolError:
    return ProtocolError(cause, reading="message", path=path, code=ErrorCode.INVALID_RECORD)
