"""Walks the batches of a segment file by their headers, reading in pieces, touching no record."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.files import CorruptLog, File

LOG_OVERHEAD = 12
_SMALLEST = {0: 14, 1: 22, 2: 49}  # by magic: a batch's size behind offset and length
_START = Struct(">qi4xb")  # base offset, length, magic
_HEADER = Struct(">qi4xb6xi8xq")  # the same, last offset delta, max timestamp
_TO_LAST_OFFSET = Struct(">qi4xb6xi")
_WHOLE_HEADER = Struct(">qiibIhiqqqhii")
_OLD_TIMESTAMP = Struct(">q")
_HEAD_BYTES = _HEADER.size
_PIECE_BYTES = 8 * 1024
_NO_TIMESTAMP = -1


class Place(NamedTuple):
    """Where a batch is, and what its header says without looking inside.

    Of a compressed batch in an old format only the last offset is known: it stands for both.
    """

    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    magic: int


def walk(
    file: File, position: int, end: int, *, piece_bytes: int = _PIECE_BYTES
) -> Iterator[Place]:
    """The batches from `position`, where one must begin, up to `end`, where one must end."""
    piece, start, previous = b"", position, -1
    while position < end:
        at = position - start
        if len(piece) - at < _HEAD_BYTES and start + len(piece) < end:
            piece, start, at = file.read(position, min(piece_bytes, end - position)), position, 0
        place = _place(file.path, piece, at, position, end)
        if place.base_offset <= previous:
            cause = f"offset {place.base_offset} after {previous}"
            raise CorruptLog(file.path, position, cause)
        yield place
        previous = place.last_offset
        position += place.size_bytes


def find(
    file: File, position: int, end: int, offset: int, *, indexed: int | None = None
) -> Place | None:
    """The first batch from `position` on that ends at or behind `offset`.

    As `walk`, but without a `Place` for every batch that is passed: a fetch begins here. What is
    at a `position` from an index must be of the offset that it is `indexed` for.
    """
    piece = file.read(position, min(_PIECE_BYTES, end - position))
    unpack, at, last = _TO_LAST_OFFSET.unpack_from, 0, len(piece) - _HEAD_BYTES
    if position and indexed is not None and last >= 0:
        base_offset, _, magic, delta = unpack(piece)
        if base_offset > indexed or (magic == 2 and not 0 <= delta <= indexed - base_offset):
            raise CorruptLog(file.path, position, f"this is not offset {indexed}, as indexed")
    while at <= last:
        base_offset, length, magic, delta = unpack(piece, at)
        if magic != 2 or base_offset + delta >= offset or length < _SMALLEST[2]:
            break
        at += LOG_OVERHEAD + length
    if at <= last:
        place = _place(file.path, piece, at, position + at, end)
        if place.last_offset >= offset:
            return place
    # If the last one passed reaches beyond the end, a second look says which it was.
    for place in walk(file, position + (at if position + at <= end else 0), end):
        if place.last_offset >= offset:
            return place
    return None


def read_batch(file: File, place: Place, *, check_crc: bool = True) -> Batch:
    """The batch with its bytes, its checksum checked; an error names the file and the position."""
    data = file.read(place.position, place.size_bytes)
    try:
        for batch in read_batches(data, check_crc=check_crc):
            return batch
    except ProtocolError as error:
        raise CorruptLog(file.path, place.position, error.cause) from error
    raise CorruptLog(file.path, place.position, "the batch is cut off")


def read_header(file: File, place: Place) -> BatchHeader:
    """All of a v2 batch's header and nothing else: no checksum can vouch for it."""
    data = file.read(place.position, _WHOLE_HEADER.size)
    if len(data) < _WHOLE_HEADER.size:
        raise CorruptLog(file.path, place.position, "the batch is cut off")
    return BatchHeader._make(_WHOLE_HEADER.unpack(data))


def _place(path: str, piece: bytes, at: int, position: int, end: int) -> Place:
    if len(piece) - at < _START.size:
        raise CorruptLog(path, position, "the file ends inside a batch")
    base_offset, length, magic = _START.unpack_from(piece, at)
    least = _SMALLEST.get(magic)
    if least is None:
        raise CorruptLog(path, position, f"a batch of magic {magic}")
    if length < least or position + LOG_OVERHEAD + length > end:
        room = end - position - LOG_OVERHEAD
        raise CorruptLog(path, position, f"a batch of length {length} with room for {room}")
    size = LOG_OVERHEAD + length
    if magic == 2:
        _, _, _, delta, timestamp = _HEADER.unpack_from(piece, at)
        return Place(position, size, base_offset, base_offset + delta, timestamp, 2)
    timestamp = _OLD_TIMESTAMP.unpack_from(piece, at + 18)[0] if magic else _NO_TIMESTAMP
    return Place(position, size, base_offset, base_offset, timestamp, magic)
