"""The entries of `.index` and `.timeindex` files, as bytes and as numbers.

On disk an offset is stored relative to the segment's base offset; here all offsets are absolute.
Nothing is judged: zeros behind the last entry (a preallocated file) come out as entries too, and
bytes that fill no whole entry are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from ottla.protocol.varint import Buffer

OFFSET_ENTRY = Struct(">ii")  # relative offset, position in the log file
TIME_ENTRY = Struct(">qi")  # timestamp, relative offset
OFFSET_ENTRY_BYTES = OFFSET_ENTRY.size
TIME_ENTRY_BYTES = TIME_ENTRY.size


def parse_offset_index(data: Buffer, base_offset: int) -> list[tuple[int, int]]:
    """(offset, position): a batch at this position, or soon after, ends with this offset."""
    entries = OFFSET_ENTRY.iter_unpack(_whole(data, OFFSET_ENTRY_BYTES))
    return [(base_offset + relative, position) for relative, position in entries]


def encode_offset_index(entries: Iterable[tuple[int, int]], base_offset: int) -> bytes:
    pack = OFFSET_ENTRY.pack
    return b"".join(pack(offset - base_offset, position) for offset, position in entries)


def parse_time_index(data: Buffer, base_offset: int) -> list[tuple[int, int]]:
    """(timestamp, offset): the largest timestamp so far, and the offset that has it."""
    entries = TIME_ENTRY.iter_unpack(_whole(data, TIME_ENTRY_BYTES))
    return [(timestamp, base_offset + relative) for timestamp, relative in entries]


def encode_time_index(entries: Iterable[tuple[int, int]], base_offset: int) -> bytes:
    pack = TIME_ENTRY.pack
    return b"".join(pack(timestamp, offset - base_offset) for timestamp, offset in entries)


def _whole(data: Buffer, entry_bytes: int) -> memoryview:
    return memoryview(data)[: len(data) - len(data) % entry_bytes]
