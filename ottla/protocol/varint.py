"""Variable-length integers: 7 bits a byte, low bits first; zig-zag where a sign is needed.

A reader raises IndexError when the bytes end too early and ValueError when the number never ends;
callers know what they were reading and translate.
"""

from __future__ import annotations

from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

_ONE_BYTE = tuple(bytes([value]) for value in range(0x80))


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned 32-bit varint and the position after it."""
    first = buf[pos]
    if first < 0x80:
        return first, pos + 1
    return continue_uvarint(buf, pos + 1, first)


def continue_uvarint(buf: Buffer, pos: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned varint whose first byte, 128 or more, has been read."""
    second = buf[pos]
    if second < 0x80:
        return first & 0x7F | second << 7, pos + 1
    return _read_long(buf, pos - 1, max_bytes=5, mask=0xFFFF_FFFF)


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """A zig-zag 32-bit varint and the position after it."""
    value, pos = read_uvarint(buf, pos)
    return (value >> 1) ^ -(value & 1), pos


def read_varlong(buf: Buffer, pos: int) -> tuple[int, int]:
    """A zig-zag 64-bit varint and the position after it."""
    first, second = buf[pos], 0
    if first < 0x80 or (second := buf[pos + 1]) < 0x80:
        value = first & 0x7F | second << 7
        pos += 1 if first < 0x80 else 2
    else:
        value, pos = _read_long(buf, pos, max_bytes=10, mask=0xFFFF_FFFF_FFFF_FFFF)
    return (value >> 1) ^ -(value & 1), pos


def _read_long(buf: Buffer, pos: int, *, max_bytes: int, mask: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * max_bytes, 7):
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            # The last byte has room for more bits than the type; Java drops them, so do we.
            return value & mask, pos
    raise ValueError(f"a varint of more than {max_bytes} bytes")


def write_uvarint(value: int) -> bytes:
    if value < 0x80:
        return _ONE_BYTE[value]
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def write_varint(value: int) -> bytes:
    # The sign has to reach all the lower bits; Python's shift keeps it, whatever the width.
    return write_uvarint((value << 1) ^ (value >> 31))


def write_varlong(value: int) -> bytes:
    return write_uvarint((value << 1) ^ (value >> 63))


def uvarint_size(value: int) -> int:
    """How many bytes `write_uvarint` gives."""
    return 1 if value < 0x80 else (value.bit_length() + 6) // 7


def varint_size(value: int) -> int:
    """How many bytes `write_varint` gives."""
    return uvarint_size((value << 1) ^ (value >> 31))


def varlong_size(value: int) -> int:
    """How many bytes `write_varlong` gives."""
    return uvarint_size((value << 1) ^ (value >> 63))
