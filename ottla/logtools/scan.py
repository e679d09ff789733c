"""The batches of a segment file one after the other, read in pieces and whatever their state.

A batch that is damaged inside is reported and passed over. Where not even its length can be
believed, nothing behind it can be found: the scan ends and says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.batch import BATCH_OVERHEAD, BatchHeader, read_header, validate_batch
from ottla.protocol.records.layout import LOG_OVERHEAD, MAGIC_AT
from ottla.protocol.records.message_set import MESSAGE_OVERHEAD, Message, read_message
from ottla.protocol.records.record_set import Batch
from ottla.storage.files import File

# Far beyond any sane message.max.bytes: a larger "batch" is a damaged length, and reading it
# would take a whole segment into memory.
LARGEST_BATCH_BYTES = 256 * 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_START = Struct(">qi4xb")  # offset, length, (leader epoch or crc,) magic
_SMALLEST = (LOG_OVERHEAD + MESSAGE_OVERHEAD[0], LOG_OVERHEAD + MESSAGE_OVERHEAD[1], BATCH_OVERHEAD)


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch where it lies. Damaged old messages have no content, damaged v2 batches have."""

    position: int
    data: bytes
    batch: Batch | None
    fault: str | None = None

    @property
    def size_bytes(self) -> int:
        return len(self.data)

    @property
    def magic(self) -> int:
        return self.data[MAGIC_AT]

    @property
    def last_offset(self) -> int:
        if self.batch is not None:
            return self.batch.last_offset
        return int.from_bytes(self.data[:8], "big", signed=True)


class Scan:
    """Iterate once. Afterwards `end` is where reading stopped; `fault` why, if before the end."""

    def __init__(
        self,
        file: File,
        *,
        start: int = 0,
        stop: int | None = None,
        piece_bytes: int = _PIECE_BYTES,
    ) -> None:
        self._file = file
        self._piece_bytes = piece_bytes
        self._start = start
        self._size = file.size() if stop is None else min(stop, file.size())
        self._piece = b""
        self._piece_at = 0
        self.end = start
        self.fault: str | None = None

    @property
    def size_bytes(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[StoredBatch]:
        self.end = self._start
        while self.end < self._size:
            size = self._next_size()
            if size is None:
                return
            data = self._read(self.end, size)
            if len(data) < size:  # the file became shorter while it was read
                self.fault = f"cut off: {len(data)} of {size} bytes"
                return
            yield _judge(self.end, data)
            self.end += size

    def _next_size(self) -> int | None:
        left = self._size - self.end
        start = self._read(self.end, _START.size)
        if len(start) < _START.size:
            self.fault = f"cut off: {left} bytes are no batch"
            return None
        _, length, magic = _START.unpack(start)
        if not any(start):
            self.fault = "zeros: the tail of a preallocated file, or lost data"
            return None
        if not 0 <= magic <= 2:
            self.fault = f"no batch: magic {magic}"
            return None
        size = LOG_OVERHEAD + int(length)
        if size < _SMALLEST[magic] or size > LARGEST_BATCH_BYTES:
            self.fault = f"no batch: length {length}"
            return None
        if size > left:
            self.fault = f"cut off: {left} of {size} bytes"
            return None
        return size

    def _read(self, position: int, length: int) -> bytes:
        start = position - self._piece_at
        if start < 0 or start + length > len(self._piece):
            wanted = min(max(length, self._piece_bytes), self._size - position)
            self._piece = self._file.read(position, wanted)
            self._piece_at = position
            start = 0
        return self._piece[start : start + length]


def _judge(position: int, data: bytes) -> StoredBatch:
    content: BatchHeader | Message
    fault = None
    try:
        if data[MAGIC_AT] < 2:
            content = read_message(data)
        else:
            content = read_header(data)
            validate_batch(data)
    except ProtocolError as cause:
        fault = cause.cause
        if data[MAGIC_AT] < 2 or cause.path != "crc":
            return StoredBatch(position, data, None, fault)
    batch = Batch(memoryview(data), content, position=position, limit=LARGEST_BATCH_BYTES)
    return StoredBatch(position, data, batch, fault)
