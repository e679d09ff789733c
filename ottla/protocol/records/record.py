"""A record as an application knows it, and its bytes inside a v2 batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.refusals import invalid
from ottla.protocol.varint import read_varint, read_varlong, write_varint, write_varlong

Header = tuple[str, bytes | None]

_INT64_END = 1 << 63


class Record:
    """One record with its absolute offset. A plain class: thousands are made for one fetch."""

    __slots__ = ("headers", "key", "offset", "timestamp", "value")

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[Header] | None = None,
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers: list[Header] = [] if headers is None else headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (
            self.offset == other.offset
            and self.timestamp == other.timestamp
            and self.key == other.key
            and self.value == other.value
            and self.headers == other.headers
        )

    __hash__ = None  # type: ignore[assignment]  # it can be changed, so it is no key

    def __repr__(self) -> str:
        return (
            f"Record(offset={self.offset}, timestamp={self.timestamp}, key={self.key!r}, "
            f"value={self.value!r}, headers={self.headers!r})"
        )


def iterate_records(
    payload: bytes, count: int, *, base_offset: int, base_timestamp: int
) -> Iterator[Record]:
    """The records of a batch's uncompressed payload, which must hold `count` and nothing more."""
    done = pos = 0
    try:
        for done in range(count):  # noqa: B007 - how far it came is in the error
            record, pos = _read_record(payload, pos, base_offset, base_timestamp)
            yield record
    except IndexError as cause:
        # Each record takes at least seven bytes, so a lying count ends here and cannot loop long.
        raise _invalid_at("the batch ends too early", done, pos) from cause
    except ValueError as cause:
        raise _invalid_at(str(cause), done, pos) from cause
    if pos != len(payload):
        raise _invalid_at(f"{len(payload) - pos} bytes after the last record", count, pos)


def _invalid_at(cause: str, number: int, pos: int) -> ProtocolError:
    path = f"records[{number}]"
    return invalid(cause, reading="record batch v2", path=path, offset=pos)


def _read_record(
    payload: bytes, pos: int, base_offset: int, base_timestamp: int
) -> tuple[Record, int]:
    # Nearly all varints are one byte long and are decoded where they stand: a call costs more than
    # the rest. No length is checked on its own: positions only grow, so one that lied is past the
    # record's end when all is read. A slice never reads beyond the payload.
    byte = payload[pos]
    if byte < 0x80:
        pos += 1
        length = (byte >> 1) ^ -(byte & 1)
    else:
        length, pos = read_varint(payload, pos)
    end = pos + length
    byte = payload[pos + 1]  # behind the attributes, which mean nothing
    if byte < 0x80:
        pos += 2
        timestamp = base_timestamp + ((byte >> 1) ^ -(byte & 1))
    else:
        delta, pos = read_varlong(payload, pos + 1)
        timestamp = base_timestamp + delta
    if not -_INT64_END <= timestamp < _INT64_END:
        timestamp = _wrap(timestamp)
    byte = payload[pos]
    if byte < 0x80:
        pos += 1
        offset_delta = (byte >> 1) ^ -(byte & 1)
    else:
        offset_delta, pos = read_varint(payload, pos)
    key, pos = _read_bytes(payload, pos)
    value, pos = _read_bytes(payload, pos)
    headers: list[Header] = []
    if payload[pos] == 0:
        pos += 1
    else:
        pos = _read_headers(payload, pos, headers)
    if pos != end or length < 0:
        raise ValueError(f"a record of {length} bytes has {pos - end + length}")
    return Record(base_offset + offset_delta, timestamp, key, value, headers), pos


def _read_bytes(payload: bytes, pos: int) -> tuple[bytes | None, int]:
    byte = payload[pos]
    if byte < 0x80:
        pos += 1
        length = (byte >> 1) ^ -(byte & 1)
    else:
        length, pos = read_varint(payload, pos)
    if length < 0:
        return None, pos
    end = pos + length
    return payload[pos:end], end


def _read_headers(payload: bytes, pos: int, headers: list[Header]) -> int:
    count, pos = read_varint(payload, pos)
    if count < 0:
        raise ValueError("a negative number of headers")
    for _ in range(count):
        key, pos = _read_bytes(payload, pos)
        if key is None:
            raise ValueError("a header without a key")
        value, pos = _read_bytes(payload, pos)
        # Kafka never looks whether a header's key is UTF-8, so any bytes must survive us.
        headers.append((key.decode("utf-8", "surrogateescape"), value))
    return pos


def write_records(records: Iterable[Record], *, base_offset: int, base_timestamp: int) -> bytes:
    """The uncompressed payload of a v2 batch."""
    out: list[bytes] = []
    for record in records:
        parts = [
            b"\0",
            write_varlong(_wrap(record.timestamp - base_timestamp)),
            write_varint(record.offset - base_offset),
        ]
        _write_bytes(parts, record.key)
        _write_bytes(parts, record.value)
        parts.append(write_varint(len(record.headers)))
        for name, content in record.headers:
            _write_bytes(parts, name.encode("utf-8", "surrogateescape"))
            _write_bytes(parts, content)
        body = b"".join(parts)
        out.append(write_varint(len(body)))
        out.append(body)
    return b"".join(out)


def _wrap(value: int) -> int:
    # Two timestamps can be further apart than 64 bits; wrapping in both ways loses nothing.
    return (value + _INT64_END) % (2 * _INT64_END) - _INT64_END


def _write_bytes(parts: list[bytes], content: bytes | None) -> None:
    if content is None:
        parts.append(b"\1")
    else:
        parts.append(write_varint(len(content)))
        parts.append(content)
