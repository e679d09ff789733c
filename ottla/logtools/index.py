"""Rebuilds the `.index` and `.timeindex` of a segment from its `.log`, as Kafka's recovery does.

A live broker writes one entry for a whole group of batches that it appends at once; recovery sees
batches only. So a rebuilt index can have more entries than the one it replaces, and never fewer
bytes between two of them than the interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from ottla.logtools.paths import sibling, split_path
from ottla.logtools.scan import Scan, StoredBatch
from ottla.protocol.records.layout import NO_TIMESTAMP
from ottla.storage.files import CorruptLog, Disk
from ottla.storage.index_entries import (
    encode_offset_index,
    encode_time_index,
    parse_offset_index,
    parse_time_index,
)
from ottla.storage.names import FileName, Kind

DEFAULT_INTERVAL_BYTES = 4096
_LARGEST = 0x7FFF_FFFF  # relative offset and position are 32-bit numbers in an entry


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The entries of both indexes, offsets absolute."""

    base_offset: int
    offsets: list[tuple[int, int]]
    times: list[tuple[int, int]]

    def offset_index(self) -> bytes:
        return encode_offset_index(self.offsets, self.base_offset)

    def time_index(self) -> bytes:
        return encode_time_index(self.times, self.base_offset)


class IndexBuilder:
    """Takes batches in their order; the entries that are due gather in two lists."""

    def __init__(self, base_offset: int, *, interval_bytes: int = DEFAULT_INTERVAL_BYTES) -> None:
        self._interval_bytes = interval_bytes
        self._indexed_at = 0
        self._largest = (NO_TIMESTAMP, base_offset)
        self.offsets: list[tuple[int, int]] = []
        self.times: list[tuple[int, int]] = []

    def add(self, *, position: int, last_offset: int, max_timestamp: int) -> None:
        if max_timestamp > self._largest[0]:
            self._largest = (max_timestamp, last_offset)
        if position - self._indexed_at > self._interval_bytes:
            self.offsets.append((last_offset, position))
            self._note_time()
            self._indexed_at = position

    def close(self) -> None:
        """The largest timestamp always gets an entry, so that a segment's age can be read off."""
        self._note_time()

    def _note_time(self) -> None:
        last = self.times[-1][0] if self.times else NO_TIMESTAMP
        if self._largest[0] > last:
            self.times.append(self._largest)


def rebuild(
    disk: Disk, path: str, name: FileName, *, interval_bytes: int = DEFAULT_INTERVAL_BYTES
) -> Rebuilt:
    """The indexes that belong to the .log file at `path`; `CorruptLog` where it is damaged."""
    builder = IndexBuilder(name.offset, interval_bytes=interval_bytes)
    for stored in _sound_batches(disk, path):
        last = stored.last_offset
        if not 0 <= last - name.offset <= _LARGEST or stored.position > _LARGEST:
            cause = f"offset {last} is out of the reach of a segment named {name.offset}"
            raise CorruptLog(path, stored.position, cause)
        assert stored.batch is not None  # a sound batch has contents
        builder.add(
            position=stored.position,
            last_offset=last,
            max_timestamp=stored.batch.max_timestamp,
        )
    builder.close()
    return Rebuilt(name.offset, builder.offsets, builder.times)


def _sound_batches(disk: Disk, path: str) -> Iterator[StoredBatch]:
    with closing(disk.open(path, writable=False)) as file:
        scan = Scan(file)
        for stored in scan:
            if stored.fault is not None:
                raise CorruptLog(path, stored.position, stored.fault)
            yield stored
        if scan.fault is not None:
            raise CorruptLog(path, scan.end, scan.fault)


@dataclass(frozen=True, slots=True)
class Change:
    """One index file: the entries it has and those it should have."""

    path: str
    data: bytes
    present: list[tuple[int, int]] | None  # None: there is no file
    wanted: list[tuple[int, int]]

    @property
    def is_same(self) -> bool:
        return self.present == self.wanted

    def added(self) -> list[tuple[int, int]]:
        return sorted(set(self.wanted) - set(self.present or []))

    def removed(self) -> list[tuple[int, int]]:
        return sorted(set(self.present or []) - set(self.wanted))


def changes(disk: Disk, path: str, name: FileName, rebuilt: Rebuilt) -> tuple[Change, Change]:
    """What would change in the .index and in the .timeindex beside the .log file at `path`."""
    base = name.offset
    offset_path = sibling(path, name, Kind.OFFSET_INDEX)
    time_path = sibling(path, name, Kind.TIME_INDEX)
    offset_data = disk.read(offset_path) if disk.status(offset_path) else None
    time_data = disk.read(time_path) if disk.status(time_path) else None
    return (
        Change(
            offset_path,
            rebuilt.offset_index(),
            None if offset_data is None else parse_offset_index(offset_data, base),
            rebuilt.offsets,
        ),
        Change(
            time_path,
            rebuilt.time_index(),
            None if time_data is None else parse_time_index(time_data, base),
            rebuilt.times,
        ),
    )


def write(disk: Disk, change: Change) -> None:
    """Written aside and renamed: a broker that opens the folder finds the old file or the new."""
    disk.replace(change.path, change.data)
    disk.sync_folder(split_path(change.path)[0])
