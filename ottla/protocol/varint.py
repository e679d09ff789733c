"""Variable-length integers: seven bits a byte, low group first; zig-zag where they have a sign."""

from __future__ import annotations

from collections.abc import Sequence


def read_uvarint(buf: Sequence[int], pos: int) -> tuple[int, int]:
    """An unsigned 32-bit value and where it ends. Cut off: IndexError; too long: ValueError."""
    first = buf[pos]
    if first < 128:
        return first, pos + 1
    return continue_uvarint(buf, pos + 1, first)


def continue_uvarint(buf: Sequence[int], pos: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned value whose first byte, 128 or more, has been read."""
    value, shift = first & 127, 7
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 28:
            raise ValueError("a varint is longer than 5 bytes")
    if value > 0xFFFF_FFFF:
        raise ValueError("a varint does not fit into 32 bits")
    return value, pos


def read_varint(buf: Sequence[int], pos: int) -> tuple[int, int]:
    """A signed 32-bit value (zig-zag) and where it ends."""
    value, pos = read_uvarint(buf, pos)
    return (value >> 1) ^ -(value & 1), pos


def read_varlong(buf: Sequence[int], pos: int) -> tuple[int, int]:
    """A signed 64-bit value (zig-zag) and where it ends."""
    value = shift = 0
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 63:
            raise ValueError("a varlong is longer than 10 bytes")
    if value > 0xFFFF_FFFF_FFFF_FFFF:
        raise ValueError("a varlong does not fit into 64 bits")
    return (value >> 1) ^ -(value & 1), pos


def write_uvarint(value: int) -> bytes:
    """The bytes of an unsigned value."""
    if value < 128:
        return value.to_bytes(1, "big")
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def write_varint(value: int) -> bytes:
    """The bytes of a signed 32-bit value (zig-zag)."""
    return write_uvarint((value << 1) ^ (value >> 31))


def write_varlong(value: int) -> bytes:
    """The bytes of a signed 64-bit value (zig-zag)."""
    return write_uvarint((value << 1) ^ (value >> 63))
