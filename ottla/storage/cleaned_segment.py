"""A segment written by compaction: a log and its indexes, all ending in `.cleaned`.

They count for nothing until the log swaps them in: a crash before that leaves files that the next
start removes and the next pass overwrites.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from ottla.protocol.records.layout import MAGIC_AT, NO_TIMESTAMP
from ottla.protocol.varint import Buffer
from ottla.storage.files import Disk
from ottla.storage.index import OffsetIndex, TimeIndex
from ottla.storage.names import FileName, Kind, Stage
from ottla.storage.transactions import AbortedTransaction

_KINDS = (Kind.LOG, Kind.OFFSET_INDEX, Kind.TIME_INDEX, Kind.TRANSACTION_INDEX)
_V2 = Struct(">q15xi8xq")  # base offset, last offset delta, max timestamp
_INT64 = Struct(">q")
_WRITE_BYTES = 1024 * 1024
_MAX_RELATIVE_OFFSET = 0x7FFF_FFFF


class CleanedFiles(NamedTuple):
    """What was written, and what an open segment would know of itself."""

    names: tuple[str, ...]
    size_bytes: int
    index_bytes: int
    time_index_bytes: int
    max_timestamp: int
    offset_of_max_timestamp: int


class CleanedSegment:
    """Grows by whole batches; the caller either finishes or discards it."""

    def __init__(
        self, disk: Disk, folder: str, *, base_offset: int, index_interval_bytes: int
    ) -> None:
        self._disk = disk
        self._base_offset = base_offset
        self._interval_bytes = index_interval_bytes
        self._folder = folder
        for kind in _KINDS:
            disk.remove(self._path(kind))
        self._file = disk.open(self._path(Kind.LOG), create=True)
        self._index = OffsetIndex(disk, self._path(Kind.OFFSET_INDEX), base_offset)
        self._time_index = TimeIndex(disk, self._path(Kind.TIME_INDEX), base_offset)
        self._pieces: list[Buffer] = []
        self._pending_bytes = 0
        self._since_entry_bytes = 0
        self._max_timestamp = NO_TIMESTAMP
        self._offset_of_max_timestamp = base_offset
        self.size_bytes = 0

    def _path(self, kind: Kind) -> str:
        return f"{self._folder}/{FileName(self._base_offset, kind, Stage.CLEANED)}"

    def add(self, data: Buffer) -> None:
        """One batch. Entries are as sparse as if it had been appended by a producer."""
        if data[MAGIC_AT] == 2:
            base_offset, delta, max_timestamp = _V2.unpack_from(data)
            last_offset = base_offset + delta
        else:
            (last_offset,) = _INT64.unpack_from(data)
            max_timestamp = _INT64.unpack_from(data, 18)[0] if data[MAGIC_AT] else NO_TIMESTAMP
        assert 0 <= last_offset - self._base_offset <= _MAX_RELATIVE_OFFSET
        if max_timestamp > self._max_timestamp:
            self._max_timestamp = max_timestamp
            self._offset_of_max_timestamp = last_offset
        if self._since_entry_bytes > self._interval_bytes:
            self._index.add(last_offset, self.size_bytes)
            self._add_time()
            self._since_entry_bytes = 0
        self._since_entry_bytes += len(data)
        self.size_bytes += len(data)
        self._pieces.append(data)
        self._pending_bytes += len(data)
        if self._pending_bytes >= _WRITE_BYTES:
            self._write()

    def _add_time(self) -> None:
        if self._max_timestamp > NO_TIMESTAMP:
            self._time_index.add(self._max_timestamp, self._offset_of_max_timestamp)

    def _write(self) -> None:
        if self._pieces:
            self._file.append([b"".join(self._pieces)])
            self._pieces = []
            self._pending_bytes = 0

    def finish(
        self,
        aborted: Iterable[AbortedTransaction],
        *,
        had_transactions: bool,
        modified_ms: int,
    ) -> CleanedFiles:
        """Everything synced, and as old as the newest source: retention counts by that.

        Where there was an index of aborted transactions there is one again, were it empty.
        """
        self._write()
        self._file.sync()
        self._file.close()
        self._add_time()
        self._index.save(sync=True)
        self._time_index.save(sync=True)
        kinds = list(_KINDS[:3])
        entries = [entry.encode() for entry in aborted]
        if entries or had_transactions:
            kinds.append(Kind.TRANSACTION_INDEX)
            file = self._disk.open(self._path(Kind.TRANSACTION_INDEX), create=True)
            file.append(entries or [b""])
            file.sync()
            file.close()
        for kind in kinds:
            self._disk.set_modified(self._path(kind), modified_ms)
        return CleanedFiles(
            tuple(str(FileName(self._base_offset, kind, Stage.CLEANED)) for kind in kinds),
            self.size_bytes,
            self._index.size_bytes,
            self._time_index.size_bytes,
            self._max_timestamp,
            self._offset_of_max_timestamp,
        )

    def discard(self) -> None:
        self._file.close()
        for kind in _KINDS:
            self._disk.remove(self._path(kind))
