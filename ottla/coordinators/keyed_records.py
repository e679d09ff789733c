"""Keys and values of a v2 batch's records, and nothing else of them: a log is read at start-up.

Hot, and so uglier than `protocol/records/record.py`, which is the plain way to read the same.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ottla.protocol.checksum import crc32c
from ottla.protocol.records.batch import (
    BATCH_OVERHEAD,
    CHECKED_FROM,
    CONTROL_BIT,
    TRANSACTIONAL_BIT,
)
from ottla.protocol.records.layout import CODEC_MASK, LOG_OVERHEAD
from ottla.protocol.varint import read_varint, read_varlong

Latest = dict[bytes, bytes | None]

_RECORD_AT = BATCH_OVERHEAD - CHECKED_FROM
# Of a header what has to be looked at: base offset, length, magic, checksum, attributes, the last
# offset's delta, the count of records.
_single = Struct(">qi4xbIhi30xi").unpack_from
_LONGEST_KNOWN = 1_000
_NOT_PLAIN = CODEC_MASK | TRANSACTIONAL_BIT | CONTROL_BIT


class Singles(NamedTuple):
    """How far `read_singles` came."""

    batches: int
    pos: int
    next_offset: int


class _Form(NamedTuple):
    """Of batches of one length with one record, as bytes from their attributes on."""

    start: bytes  # of the record, up to its key
    key: slice
    value_size: bytes
    value_size_at: int
    value: slice


Forms = dict[int, _Form | None]  # by the batch's length; None: not worth it


def read_singles(
    data: bytes, pos: int, most: int, into: Latest, next_offset: int, forms: Forms
) -> Singles:
    """Plain batches of one record each, as many as there are; whatever else comes stops it.

    What a log is full of before its first compaction, if every commit came alone. A batch that is
    wrong in any way stops it too: whoever looks closer will say what is wrong. Where key and value
    are is the same in most batches of one length: `forms` remembers it from call to call.
    """
    size = len(data)
    for number in range(most):
        if size - pos < BATCH_OVERHEAD:
            return Singles(number, pos, next_offset)
        offset, length, magic, checksum, attributes, delta, count = _single(data, pos)
        end = pos + LOG_OVERHEAD + length
        if (
            count != 1
            or magic != 2
            or attributes & _NOT_PLAIN
            or offset < next_offset
            or not pos + BATCH_OVERHEAD < end <= size
        ):
            return Singles(number, pos, next_offset)
        checked = data[pos + CHECKED_FROM : end]
        if checksum != crc32c(checked):
            return Singles(number, pos, next_offset)
        form = forms.get(length)
        if (
            form is not None
            and checked.startswith(form.start, _RECORD_AT)
            and checked.startswith(form.value_size, form.value_size_at)
        ):
            into[checked[form.key]] = checked[form.value]
        elif not _read_single(checked, into, forms):
            return Singles(number, pos, next_offset)
        pos, next_offset = end, offset + delta + 1
    return Singles(most, pos, next_offset)


def _read_single(checked: bytes, into: Latest, forms: Forms) -> bool:
    """The record of a batch, from its attributes on; False if it is not quite right."""
    try:
        if read_keyed(checked, _RECORD_AT, 1, into) != len(checked):
            return False
    except (IndexError, ValueError):
        return False
    length = len(checked) + CHECKED_FROM - LOG_OVERHEAD
    if length < _LONGEST_KNOWN and length not in forms:
        forms[length] = _form_of(checked)
    return True


def _form_of(checked: bytes) -> _Form | None:
    """Of a record that could be read."""
    _, pos = read_varint(checked, _RECORD_AT)
    _, pos = read_varlong(checked, pos + 1)
    _, pos = read_varint(checked, pos)
    key_bytes, key_at = read_varint(checked, pos)
    value_size_at = key_at + key_bytes
    value_bytes, value_at = read_varint(checked, value_size_at)
    if value_bytes < 0:
        return None
    return _Form(
        start=checked[_RECORD_AT:key_at],
        key=slice(key_at, value_size_at),
        value_size=checked[value_size_at:value_at],
        value_size_at=value_size_at,
        value=slice(value_at, value_at + value_bytes),
    )


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
