"""Where to start reading: the sparse indexes beside a segment, by offset and by time.

An index is held in memory in the bytes of its file, and what the file lacks is written at a flush
or a roll: after a crash indexes are rebuilt from the log, so no append waits for them.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import Struct

from ottla.storage.files import CorruptLog, Disk
from ottla.storage.index_entries import OFFSET_ENTRY, TIME_ENTRY

_NO_TIMESTAMP = -1


class _Entries:
    """Pairs of numbers, packed as in the file."""

    def __init__(self, disk: Disk, path: str, packing: Struct) -> None:
        self._disk = disk
        self._path = path
        self._packing = packing
        self._packed = bytearray()
        self._saved_bytes = 0

    def load(self) -> None:
        """Take over the file. Zeros at its end were set aside by Kafka and never used."""
        data = self._disk.read(self._path)
        size = self._packing.size
        if len(data) % size:
            cause = f"{len(data)} bytes are not a multiple of an entry's {size}"
            raise CorruptLog(self._path, len(data), cause)
        used = -(-len(data.rstrip(b"\0")) // size) * size
        self._packed[:] = data[:used]
        # A file with unused room counts as unsaved: the next save cuts it to its entries.
        self._saved_bytes = used if used == len(data) else 0

    def __len__(self) -> int:
        return len(self._packed) // self._packing.size

    def __getitem__(self, number: int) -> tuple[int, int]:
        first, second = self._packing.unpack_from(self._packed, number * self._packing.size)
        return first, second

    def last(self) -> tuple[int, int] | None:
        return self[len(self) - 1] if self._packed else None

    def all(self) -> list[tuple[int, ...]]:
        return list(self._packing.iter_unpack(self._packed))

    def add(self, first: int, second: int) -> None:
        self._packed += self._packing.pack(first, second)

    def count_below(self, value: int, column: int) -> int:
        """How many entries have less than `value` in that column; both columns ascend."""
        unpack, size, packed = self._packing.unpack_from, self._packing.size, self._packed
        return bisect_left(
            range(len(self)), value, key=lambda number: unpack(packed, number * size)[column]
        )

    def keep(self, count: int) -> None:
        del self._packed[count * self._packing.size :]
        self._saved_bytes = min(self._saved_bytes, len(self._packed))

    def move_to(self, path: str) -> None:
        self._path = path

    def save(self, *, sync: bool) -> None:
        file = self._disk.open(self._path, create=True)
        try:
            if file.size() != self._saved_bytes:
                file.truncate(self._saved_bytes)
            if len(self._packed) > self._saved_bytes:
                file.append([bytes(self._packed[self._saved_bytes :])])
            self._saved_bytes = len(self._packed)
            if sync:
                file.sync()
        finally:
            file.close()


class OffsetIndex:
    """(offset, position) pairs; an entry's offset is the last one of what was appended there."""

    def __init__(self, disk: Disk, path: str, base_offset: int) -> None:
        self.path = path
        self._base_offset = base_offset
        self._entries = _Entries(disk, path, OFFSET_ENTRY)

    @classmethod
    def load(cls, disk: Disk, path: str, base_offset: int) -> OffsetIndex:
        index = cls(disk, path, base_offset)
        index._entries.load()
        last = index._entries.last()
        if last is not None and (last[0] <= 0 or last[1] <= 0):
            raise CorruptLog(path, index.size_bytes, f"the last entry is {last}")
        return index

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size_bytes(self) -> int:
        return len(self._entries) * OFFSET_ENTRY.size

    def last(self) -> tuple[int, int]:
        """The last entry; the segment's beginning while there is none."""
        offset, position = self._entries.last() or (0, 0)
        return self._base_offset + offset, position

    def entries(self) -> list[tuple[int, int]]:
        return [(self._base_offset + offset, position) for offset, position in self._entries.all()]

    def add(self, offset: int, position: int) -> None:
        self._entries.add(offset - self._base_offset, position)

    def lookup(self, offset: int) -> tuple[int, int]:
        """The last entry at or before `offset`; the segment's beginning if there is none."""
        count = self._entries.count_below(offset - self._base_offset + 1, 0)
        if not count:
            return self._base_offset, 0
        found, position = self._entries[count - 1]
        return self._base_offset + found, position

    def first_from(self, position: int) -> int | None:
        """The offset of the first entry at or behind a position in the file."""
        count = self._entries.count_below(position, 1)
        return self._base_offset + self._entries[count][0] if count < len(self) else None

    def truncate(self, offset: int) -> None:
        """Forget entries at or behind `offset`."""
        self._entries.keep(self._entries.count_below(offset - self._base_offset, 0))

    def move_to(self, path: str) -> None:
        self.path = path
        self._entries.move_to(path)

    def save(self, *, sync: bool = False) -> None:
        """Make the file equal; there is a file even if there is no entry."""
        self._entries.save(sync=sync)


class TimeIndex:
    """(timestamp, offset) pairs: the largest timestamp so far, and which batch had it."""

    def __init__(self, disk: Disk, path: str, base_offset: int) -> None:
        self.path = path
        self._base_offset = base_offset
        self._entries = _Entries(disk, path, TIME_ENTRY)

    @classmethod
    def load(cls, disk: Disk, path: str, base_offset: int) -> TimeIndex:
        index = cls(disk, path, base_offset)
        index._entries.load()
        first, last = index._entries[0] if len(index) else None, index._entries.last()
        if first is not None and last is not None and (last[0] < first[0] or last[1] < 0):
            raise CorruptLog(path, index.size_bytes, f"the last entry is {last}, the first {first}")
        return index

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size_bytes(self) -> int:
        return len(self._entries) * TIME_ENTRY.size

    def last(self) -> tuple[int, int] | None:
        last = self._entries.last()
        return (last[0], self._base_offset + last[1]) if last else None

    def entries(self) -> list[tuple[int, int]]:
        return [(time, self._base_offset + offset) for time, offset in self._entries.all()]

    def add(self, timestamp: int, offset: int) -> None:
        """Only what is later than the last entry is worth one; no timestamp at all never is."""
        last = self._entries.last()
        if timestamp > (last[0] if last else _NO_TIMESTAMP):
            self._entries.add(timestamp, offset - self._base_offset)

    def lookup(self, timestamp: int) -> tuple[int, int] | None:
        """The last entry of an earlier time: what is searched for comes after its batch."""
        count = self._entries.count_below(timestamp, 0)
        if not count:
            return None
        earlier, offset = self._entries[count - 1]
        return earlier, self._base_offset + offset

    def truncate(self, offset: int) -> None:
        """Forget entries at or behind `offset`."""
        self._entries.keep(self._entries.count_below(offset - self._base_offset, 1))

    def move_to(self, path: str) -> None:
        self.path = path
        self._entries.move_to(path)

    def save(self, *, sync: bool = False) -> None:
        """Make the file equal; there is a file even if there is no entry."""
        self._entries.save(sync=sync)
