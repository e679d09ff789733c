"""Keys and values of a v2 batch's records, and nothing else of them: a log is read at start-up.

Hot, and so uglier than `protocol/records/record.py`, which is the plain way to read the same.
"""

from __future__ import annotations

from ottla.protocol.varint import read_varint

Latest = dict[bytes, bytes | None]


def read_keyed(data: bytes, pos: int, count: int, into: Latest) -> int:  # noqa: C901
    """Reads `count` records at `pos`; the last value of a key stays. Returns where they end."""
    # Nearly all lengths take one byte or two, and are decoded where they stand. The lowest bit of
    # a zig-zag number is its sign: set, it is the -1 of a missing key or value.
    for _ in range(count):
        size = data[pos]
        pos += 1
        if size >= 0x80:
            if (second := data[pos]) < 0x80:
                size = size & 0x7F | second << 7
                pos += 1
            else:
                size, pos = _read_long(data, pos - 1)
        end = pos + (size >> 1)
        pos += 1  # the attributes, which mean nothing
        while data[pos] >= 0x80:  # the timestamp
            pos += 1
        pos += 1
        while data[pos] >= 0x80:  # the offset
            pos += 1
        pos += 1
        size = data[pos]
        pos += 1
        if size >= 0x80:
            size, pos = _read_long(data, pos - 1)
        value_at = pos + (size >> 1)
        if size & 1 or value_at > end:
            raise ValueError("a record without a key")
        key = data[pos:value_at]
        size = data[value_at]
        pos = value_at + 1
        if size >= 0x80:
            size, pos = _read_long(data, value_at)
        if size & 1:
            into[key] = None
        elif pos + (size >> 1) > end:
            raise ValueError("a value that does not end within its record")
        else:
            into[key] = data[pos : pos + (size >> 1)]
        pos = end  # behind the headers, which coordinators do not write
    return pos


def _read_long(data: bytes, pos: int) -> tuple[int, int]:
    """The number as it stands, its sign in the lowest bit."""
    number, pos = read_varint(data, pos)
    return number << 1 if number >= 0 else 1, pos
