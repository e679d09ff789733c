"""Checks every batch of a segment and makes its indexes anew: what follows an unclean stop."""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.batch import BATCH_OVERHEAD, validate_batch
from ottla.protocol.records.record_set import read_batches
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.files import CorruptLog
from ottla.storage.segment import MAX_RELATIVE_OFFSET, Segment

_PIECE_BYTES = 4 * 1024 * 1024
_MAGIC_AT = 16
_LENGTH_AT = slice(8, 12)
_LOG_OVERHEAD = 12
_LARGEST_BATCH = 0x7FFF_FFFF
_NO_EPOCH = -1


def check_segment(
    segment: Segment,
    *,
    next_base: int | None,
    epochs: LeaderEpochs,
    on_progress: Callable[[int], None] = lambda size_bytes: None,
) -> CorruptLog | None:
    """Index the batches up to the first that is wrong, and say what is wrong with it.

    The segment's size is then where that batch begins; its file still holds the rest. `epochs`
    are then as those batches have them.
    """
    size = segment.log.size()
    segment.reset()
    previous = segment.base_offset - 1
    while segment.size_bytes < size:
        piece = memoryview(segment.log.read(segment.size_bytes, _PIECE_BYTES))
        if not _is_whole(piece):
            length = int.from_bytes(piece[_LENGTH_AT], "big")
            room = size - segment.size_bytes - _LOG_OVERHEAD
            if len(piece) < _LOG_OVERHEAD or not 0 < length <= min(room, _LARGEST_BATCH):
                return _wrong(segment, f"{size - segment.size_bytes} bytes are no whole batch")
            piece = memoryview(segment.log.read(segment.size_bytes, _LOG_OVERHEAD + length))
        before = segment.size_bytes
        try:
            previous = _note_batches(segment, piece, previous, next_base, epochs)
        except ProtocolError as error:
            return _wrong(segment, error.cause)
        on_progress(segment.size_bytes - before)
    return None


def _is_whole(piece: memoryview) -> bool:
    """Whether the piece holds at least its first batch."""
    if len(piece) < _LOG_OVERHEAD:
        return False
    return _LOG_OVERHEAD + int.from_bytes(piece[_LENGTH_AT], "big") <= len(piece)


def _note_batches(
    segment: Segment,
    piece: memoryview,
    previous: int,
    next_base: int | None,
    epochs: LeaderEpochs,
) -> int:
    """All whole batches of the piece; returns the last offset."""
    largest = segment.base_offset + MAX_RELATIVE_OFFSET
    if next_base is not None:
        largest = min(largest, next_base - 1)
    position, end, note = 0, len(piece), segment.note_batch
    epoch, epoch_from = _NO_EPOCH, 0
    try:
        while end - position >= BATCH_OVERHEAD and piece[position + _MAGIC_AT] == 2:
            length = int.from_bytes(piece[position + 8 : position + 12], "big")
            stop = position + _LOG_OVERHEAD + length
            if stop > end:
                return previous
            header = validate_batch(piece[position:stop])
            # Fields by number: a segment has millions of batches.
            base_offset = header[0]
            last_offset = base_offset + header[6]
            if not previous < base_offset <= last_offset <= largest:
                cause = f"offsets {base_offset} to {last_offset} after {previous}"
                raise ProtocolError(cause, reading="record batch v2")
            if base_offset != previous + 1:
                segment.has_gaps = True
            note(stop - position, last_offset, header[8])
            if header[2] != epoch:
                _follow(epochs, epoch, epoch_from, previous)
                epoch, epoch_from = header[2], base_offset
            previous, position = last_offset, stop
    finally:
        _follow(epochs, epoch, epoch_from, previous)
    return _note_old(segment, piece[position:], previous, largest, epochs)


def _note_old(
    segment: Segment, piece: memoryview, previous: int, largest: int, epochs: LeaderEpochs
) -> int:
    """The same for what is not v2, without its speed."""
    for batch in read_batches(piece):
        if not previous < batch.base_offset <= batch.last_offset <= largest:
            cause = f"offsets {batch.base_offset} to {batch.last_offset} after {previous}"
            raise ProtocolError(cause, reading="record set")
        segment.has_gaps |= batch.base_offset != previous + 1
        previous = batch.last_offset
        segment.note_batch(batch.size_bytes, previous, batch.max_timestamp)
        if batch.header is not None:
            epoch = batch.header.partition_leader_epoch
            _follow(epochs, epoch, batch.base_offset, previous)
    return previous


def _follow(epochs: LeaderEpochs, epoch: int, first_offset: int, last_offset: int) -> None:
    if epoch != _NO_EPOCH:
        epochs.follow(epoch, first_offset=first_offset, last_offset=last_offset)


def _wrong(segment: Segment, cause: str) -> CorruptLog:
    return CorruptLog(segment.log.path, segment.size_bytes, cause)
