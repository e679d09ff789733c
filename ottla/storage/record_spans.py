"""Where the records of a v2 batch lie in its payload, without making records of them.

Compaction looks at every record and wants little of each: key, offset, whether there is a value.
What stays is copied by its span. `protocol/records/record.py` is the plain way to read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.protocol.varint import read_varint, read_varlong, write_varint, write_varlong

_INT64_END = 1 << 63
_new_tuple = tuple.__new__


class RecordSpan(NamedTuple):
    """One record: payload[start:end], its timestamp replaceable before payload[offset_at:end]."""

    start: int
    timestamp_delta: int
    offset_at: int
    end: int
    offset_delta: int
    key: bytes | None
    is_tombstone: bool


def read_spans(payload: bytes, count: int) -> list[RecordSpan]:
    """The spans of all records; ValueError if they are not `count` that fill the payload."""
    spans: list[RecordSpan] = []
    try:
        end = _read_spans(payload, count, spans)
    except IndexError as cause:
        raise ValueError(f"the batch ends within record {len(spans)}") from cause
    if end != len(payload):
        raise ValueError(f"{len(payload) - end} bytes behind the last record")
    return spans


def _read_spans(payload: bytes, count: int, spans: list[RecordSpan]) -> int:  # noqa: PLR0912
    # Varints of one or two bytes are decoded where they stand: a call costs as much as the rest.
    # The lowest bit of a zig-zag number is its sign: a missing key or value shows at once.
    add, pos = spans.append, 0
    for _ in range(count):
        start = pos
        number = payload[pos]
        if number < 0x80:
            pos += 1
        elif (second := payload[pos + 1]) < 0x80:
            number = number & 0x7F | second << 7
            pos += 2
        else:
            number, pos = read_varint(payload, pos)
            number <<= 1
        end = pos + (number >> 1)
        delta = payload[pos + 1]  # behind the attributes, which mean nothing
        if delta < 0x80:
            delta = (delta >> 1) ^ -(delta & 1)
            pos += 2
        elif payload[pos + 2] < 0x80:
            delta = (delta >> 1 & 0x3F | payload[pos + 2] << 6) ^ -(delta & 1)
            pos += 3
        else:
            delta, pos = read_varlong(payload, pos + 1)
        offset_at = pos
        offset = payload[pos]
        if offset < 0x80:
            pos += 1
        elif (second := payload[pos + 1]) < 0x80:
            offset = offset & 0x7F | second << 7
            pos += 2
        else:
            offset, pos = read_varint(payload, pos)
            offset <<= 1
        number = payload[pos]
        if number < 0x80:
            pos += 1
        else:
            number, pos = read_varint(payload, pos)
            number <<= 1
        size = 0 if number & 1 else number >> 1
        key = None if number & 1 else payload[pos : pos + size]
        pos += size
        has_value = not payload[pos] & 1
        if pos >= end or offset & 1 or offset < 0:
            raise ValueError(f"record {len(spans)} does not fill its length")
        add(_new_tuple(RecordSpan, (start, delta, offset_at, end, offset >> 1, key, not has_value)))
        pos = end
    return pos


def wrap_int64(value: int) -> int:
    """Two timestamps can be further apart than 64 bits; as in Java, the difference wraps."""
    if -_INT64_END <= value < _INT64_END:
        return value
    return (value + _INT64_END) % (2 * _INT64_END) - _INT64_END


def write_spans(payload: bytes, spans: Sequence[RecordSpan], deltas: Sequence[int]) -> bytes:
    """The records of these spans with these timestamp deltas, and all else as it was."""
    out: list[bytes] = []
    for span, delta in zip(spans, deltas, strict=True):
        start, old_delta, offset_at, end, _, _, _ = span
        if delta == old_delta:
            out.append(payload[start:end])
            continue
        stamp = write_varlong(delta)
        out += (write_varint(1 + len(stamp) + end - offset_at), b"\0", stamp)
        out.append(payload[offset_at:end])
    return b"".join(out)
