"""Any record set, batch after batch: what a log, a produce request or a fetch response holds."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from ottla.protocol.records.batch import (
    MAX_UNCOMPRESSED_BYTES,
    BatchHeader,
    each_record,
    read_header,
    read_records,
    validate_batch,
)
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.layout import LOG_OVERHEAD, MAGIC_AT, TimestampType
from ottla.protocol.records.message_set import Message, read_message, read_message_records
from ottla.protocol.records.record import Record
from ottla.protocol.records.refusals import corrupt
from ottla.protocol.varint import Buffer

_SMALLEST_MESSAGE = 14
_READING = "record set"
_START = Struct(">qi4xb")  # offset, size, (crc or leader epoch,) magic


class Batch:
    """One batch of any format: a v2 batch, or one entry of a message set."""

    __slots__ = ("_base_offset", "content", "limit", "position", "view")

    def __init__(
        self, view: memoryview, content: BatchHeader | Message, *, position: int, limit: int
    ) -> None:
        self.view = view
        self.content = content
        self.position = position
        self.limit = limit
        self._base_offset: int | None = None

    @property
    def magic(self) -> int:
        return self.content.magic

    @property
    def size_bytes(self) -> int:
        return self.content.size_bytes

    @property
    def header(self) -> BatchHeader | None:
        """What only v2 knows: producer, sequences, leader epoch."""
        return self.content if isinstance(self.content, BatchHeader) else None

    @property
    def base_offset(self) -> int:
        if isinstance(self.content, BatchHeader):
            return self.content.base_offset
        if self.content.codec is Codec.NONE:
            return self.content.offset
        if self._base_offset is None:
            # A wrapper tells only its last offset; the first is inside.
            self._base_offset = self.records()[0].offset
        return self._base_offset

    @property
    def last_offset(self) -> int:
        if isinstance(self.content, BatchHeader):
            return self.content.last_offset
        return self.content.offset

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1

    @property
    def codec(self) -> Codec:
        return self.content.codec

    @property
    def timestamp_type(self) -> TimestampType:
        return self.content.timestamp_type

    @property
    def max_timestamp(self) -> int:
        if isinstance(self.content, BatchHeader):
            return self.content.max_timestamp
        return self.content.timestamp

    @property
    def log_append_time(self) -> int | None:
        """The one timestamp of all records, if the leader gave it."""
        if self.timestamp_type is TimestampType.LOG_APPEND_TIME:
            return self.max_timestamp
        return None

    @property
    def is_control(self) -> bool:
        return isinstance(self.content, BatchHeader) and self.content.is_control

    def records(self) -> list[Record]:
        if isinstance(self.content, BatchHeader):
            return read_records(self.view, limit=self.limit)
        return read_message_records(self.content, limit=self.limit)

    def each_record(self) -> Iterator[Record]:
        """One at a time: a megabyte that compressed well can hold more than fit in memory."""
        if isinstance(self.content, BatchHeader):
            return each_record(self.view, limit=self.limit)
        return iter(read_message_records(self.content, limit=self.limit))


def read_batches(
    data: Buffer, *, check_crc: bool = True, limit: int = MAX_UNCOMPRESSED_BYTES
) -> Iterator[Batch]:
    """Every whole batch. A cut-off one at the end is ignored, as in a fetch response.

    `limit` bounds what one batch may decompress to. Old messages are checked in any case.
    """
    view = memoryview(data)
    pos = 0
    while (size := _whole_size(view, pos)) is not None:
        part = view[pos : pos + size]
        content: BatchHeader | Message
        if part[MAGIC_AT] < 2:
            content = read_message(part)
        else:
            content = validate_batch(part) if check_crc else read_header(part)
        yield Batch(part, content, position=pos, limit=limit)
        pos += size


def _whole_size(view: memoryview, pos: int) -> int | None:
    """The size of the batch at `pos`; None if its end, or even its magic, is not there."""
    if len(view) - pos < _START.size:
        # Even of a cut-off batch, a length that no batch can have is worth refusing.
        if len(view) - pos >= LOG_OVERHEAD:
            _check_length(int.from_bytes(view[pos + 8 : pos + 12], "big", signed=True), pos)
        return None
    _, length, magic = _START.unpack_from(view, pos)
    _check_length(length, pos)
    if not 0 <= magic <= 2:
        raise corrupt(f"magic {magic}", reading=_READING, path="magic", offset=pos + MAGIC_AT)
    return LOG_OVERHEAD + length if LOG_OVERHEAD + length <= len(view) - pos else None


def _check_length(length: int, pos: int) -> None:
    if length < _SMALLEST_MESSAGE:
        raise corrupt(f"size {length}", reading=_READING, path="size", offset=pos + 8)
