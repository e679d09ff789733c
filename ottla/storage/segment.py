"""A file of batches and its indexes: append, find, read, cut."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ottla.protocol.varint import Buffer
from ottla.storage.config import LogConfig
from ottla.storage.files import CorruptLog, Disk, DiskFailed, File
from ottla.storage.index import OffsetIndex, TimeIndex
from ottla.storage.index_entries import OFFSET_ENTRY, TIME_ENTRY
from ottla.storage.reserve import Reserve, within
from ottla.storage.scan import Place, find, walk
from ottla.storage.transaction_index import TransactionIndex
from ottla.storage.transactions import AbortedTransaction

_logger = logging.getLogger(__name__)
_NO_TIMESTAMP = -1
_LARGE_PIECE_BYTES = 1024 * 1024
MAX_RELATIVE_OFFSET = 0x7FFF_FFFF
_NEVER = 0x7FFF_FFFF_FFFF_FFFF
_NO_TAIL = (-1, 0, -1)


# An `Append` without its names, which cost more to make than a small batch costs to check.
AppendFields = tuple[Buffer, int, int, int, int]


class Append(NamedTuple):
    """One validated and patched record set, ready to be written."""

    data: Buffer
    first_offset: int
    last_offset: int
    max_timestamp: int
    offset_of_max_timestamp: int

    @property
    def size_bytes(self) -> int:
        return len(self.data)


class Segment:
    """The batches from `base_offset` up to the next segment's base."""

    def __init__(self, disk: Disk, folder: str, base_offset: int, config: LogConfig) -> None:
        self.base_offset = base_offset
        self.folder = folder
        self.config = config
        self.size_bytes = 0
        self.written_back_bytes = 0  # what the disk was told to begin with
        self.created_ms = 0
        self.max_timestamp = _NO_TIMESTAMP
        self.offset_of_max_timestamp = base_offset
        self.jitter_ms = 0  # by which `segment.ms` is shorter, so that not all roll at once
        self.first_timestamp: int | None = None  # of the first batch: when `segment.ms` starts
        self.may_be_old_from = _NEVER  # a timestamp before this cannot make the segment too old
        self._disk = disk
        self._log: File | None = None
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self.transactions = TransactionIndex(disk, self.path(".txnindex"), base_offset)
        self._bytes_since_entry = 0
        self._indexes_are_full = False
        self.reserve = Reserve()
        self.has_gaps = False  # known after a check: compaction has been here
        self._indexes_are_new = False  # made from the log, so that they agree with it
        # What was written last: its first offset, its place, and where the segment ended with it.
        self.tail = _NO_TAIL

    @classmethod
    def create(
        cls, disk: Disk, folder: str, base_offset: int, config: LogConfig, *, now_ms: int
    ) -> Segment:
        segment = cls(disk, folder, base_offset, config)
        segment.created_ms = now_ms
        segment._offset_index = OffsetIndex(disk, segment.path(".index"), base_offset)
        segment._time_index = TimeIndex(disk, segment.path(".timeindex"), base_offset)
        segment.transactions.begin()
        try:
            segment._log = disk.open(segment.path(".log"), create=True)
            segment._log.truncate(0)
            if config.preallocate:
                segment._log.reserve(config.segment_bytes)
                segment.reserve.take_all(config.segment_bytes)
            segment.save_indexes()
        except OSError:
            # The log goes on in the segment before: one that begins here must not be found.
            segment.close()
            for suffix in (".log", ".index", ".timeindex"):
                disk.remove(segment.path(suffix))
            raise
        return segment

    def move_to(self, folder: str) -> None:
        """The folder was renamed: the indexes' files are to be found there."""
        self.folder = folder
        if self._offset_index is not None:
            self._offset_index.move_to(self.path(".index"))
        if self._time_index is not None:
            self._time_index.move_to(self.path(".timeindex"))
        self.transactions.path = self.path(".txnindex")

    def path(self, suffix: str) -> str:
        return f"{self.folder}/{self.base_offset:020d}{suffix}"

    @property
    def log(self) -> File:
        if self._log is None:
            self._log = self._disk.open(self.path(".log"))
        return self._log

    @property
    def offset_index(self) -> OffsetIndex:
        if self._offset_index is None:
            self._offset_index = OffsetIndex.load(self._disk, self.path(".index"), self.base_offset)
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._time_index = TimeIndex.load(self._disk, self.path(".timeindex"), self.base_offset)
        return self._time_index

    @property
    def aborted(self) -> list[AbortedTransaction]:
        """The transactions whose ABORT marker is in this segment."""
        return self.transactions.entries

    def has_room_for(self, last_offset: int, size_bytes: int) -> bool:
        """Whether an append still fits by size, by offset and by the indexes."""
        return (
            self.size_bytes + size_bytes <= self.config.segment_bytes
            and last_offset - self.base_offset <= MAX_RELATIVE_OFFSET
            and not self._indexes_are_full
        )

    @property
    def room_bytes(self) -> int:
        return self.config.segment_bytes - self.size_bytes

    def write(self, appends: Sequence[AppendFields], *, now_ms: int) -> None:
        """All of them with one write, or none of them and the file as it was."""
        log = self._log or self.log
        if len(appends) == 1:
            log.append((appends[0][0],))
        else:
            log.append([append[0] for append in appends])
        self._note(appends)
        if self.size_bytes >= self.reserve.due_bytes:
            self._set_blocks_aside(now_ms)

    def _set_blocks_aside(self, now_ms: int) -> None:
        wanted = self.reserve.next_bytes(self.size_bytes, self.config.segment_bytes, now_ms=now_ms)
        if wanted:
            # What was written is written: a disk that fails here is found out by the next write.
            with suppress(OSError, DiskFailed):
                free_bytes = self._disk.room(self.folder).usable_bytes
                if spared := within(free_bytes, wanted):
                    self.log.reserve(spared)

    def _note(self, appends: Sequence[AppendFields]) -> None:
        """Take into account what now stands at the segment's end."""
        position = self.size_bytes
        if self.first_timestamp is None and appends:  # none, if what was to be queued was refused
            self._note_first(appends[0][3])
        interval_bytes, latest = self.config.index_interval_bytes, self.max_timestamp
        for data, _, last_offset, timestamp, offset_of_timestamp in appends:
            if timestamp > latest:
                self.max_timestamp = latest = timestamp
                self.offset_of_max_timestamp = offset_of_timestamp
            if self._bytes_since_entry > interval_bytes:
                self._add_entries(last_offset)
            size = len(data)
            self._bytes_since_entry += size
            self.size_bytes += size
        if appends:
            self.tail = (appends[0][1], position, self.size_bytes)

    def note_batch(self, size_bytes: int, last_offset: int, max_timestamp: int) -> None:
        """The same for one batch, from its header alone."""
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max_timestamp = max_timestamp, last_offset
        if not self.size_bytes:
            self._note_first(max_timestamp)
        elif self._bytes_since_entry > self.config.index_interval_bytes:
            self._add_entries(last_offset)
        self._bytes_since_entry += size_bytes
        self.size_bytes += size_bytes

    def _add_entries(self, last_offset: int) -> None:
        self.offset_index.add(last_offset, self.size_bytes)
        self.time_index.add(self.max_timestamp, self.offset_of_max_timestamp)
        self._bytes_since_entry = 0
        limit = self.config.segment_index_bytes
        # One entry of the time index is kept free for the last timestamp, at the roll.
        self._indexes_are_full = (
            self.offset_index.size_bytes + OFFSET_ENTRY.size > limit
            or self.time_index.size_bytes + 2 * TIME_ENTRY.size > limit
        )

    def _note_first(self, timestamp: int) -> None:
        self.first_timestamp = timestamp
        self.may_be_old_from = 0
        if timestamp >= 0:
            self.may_be_old_from = timestamp + self.config.roll_ms - self.jitter_ms

    def configure(self, config: LogConfig) -> None:
        self.config = config
        if self.first_timestamp is not None:
            self._note_first(self.first_timestamp)

    def is_old(self, timestamp: int, *, now_ms: int) -> bool:
        """Whether `segment.ms` is over, by what is to be appended or else by the clock."""
        if self.first_timestamp is None:
            return False
        if self.first_timestamp >= 0:
            age_ms = timestamp - self.first_timestamp
        else:
            age_ms = now_ms - self.created_ms
        return age_ms > self.config.roll_ms - self.jitter_ms

    def reset(self) -> None:
        """Know nothing of the file, so that it can be read from its beginning and noted anew."""
        self._forget_indexes()
        self.transactions.clear()

    def _forget_indexes(self) -> None:
        self.size_bytes = self._bytes_since_entry = 0
        self._indexes_are_full, self._indexes_are_new = False, True
        self.has_gaps = False
        self.max_timestamp, self.offset_of_max_timestamp = _NO_TIMESTAMP, self.base_offset
        self.first_timestamp, self.may_be_old_from = None, _NEVER
        self._offset_index = OffsetIndex(self._disk, self.path(".index"), self.base_offset)
        self._time_index = TimeIndex(self._disk, self.path(".timeindex"), self.base_offset)

    def find(self, offset: int) -> Place | None:
        """The batch that holds `offset`, or the first one behind it."""
        indexed, position = self.offset_index.lookup(offset)
        if not 0 <= position < self.size_bytes:
            indexed, position = self.base_offset, 0  # an index that is ahead of the log is no help
        try:
            return find(self.log, position, self.size_bytes, offset, indexed=indexed)
        except CorruptLog as error:
            if not position or not self._remake_indexes(error):
                raise
        return self.find(offset)

    def _remake_indexes(self, error: CorruptLog) -> bool:
        """Where an index leads astray the log may yet be sound. Once: then it is the log.

        The whole file is walked, on whatever thread asked: it is rare, and better than no answer.
        """
        if self._indexes_are_new:
            return False
        _logger.warning("%s; the indexes of %s are made anew", error, self.path(".log"))
        size = self.size_bytes
        self._forget_indexes()
        try:
            for place in walk(self.log, 0, size, piece_bytes=_LARGE_PIECE_BYTES):
                self._check_range(place)
                self.note_batch(place.size_bytes, place.last_offset, place.max_timestamp)
        except CorruptLog:
            pass  # damaged itself: whoever reads there will hear of it
        self.size_bytes = size
        self.index_last_timestamp()
        with suppress(OSError):
            self.save_indexes(sync=True)
        return True

    def find_time(self, timestamp: int) -> Place | None:
        """The batch from which to look for records of this time or later."""
        entry = self.time_index.lookup(timestamp)
        return self._find_time(entry) if entry is not None else self.find(self.base_offset)

    def _find_time(self, entry: tuple[int, int]) -> Place | None:
        """The batch that an entry of the time index names; None if it does not bear it out."""
        timestamp, offset = entry
        place = self.find(offset)
        if place is not None and place.max_timestamp == timestamp:
            return place
        cause = f"no batch at offset {offset} has the timestamp {timestamp}"
        if self._remake_indexes(CorruptLog(self.time_index.path, 0, cause)):
            return self.find(self.base_offset)
        return place

    def truncate(self, offset: int) -> int:
        """Drop every batch from the one that holds `offset` on; returns where the rest ends.

        It lasts when this returns, for what is appended next may reach the disk before a cut would.
        """
        place = self.find(offset)
        if place is not None:
            self.log.truncate(place.position)
            self.log.sync()
            self.size_bytes = place.position
            self.written_back_bytes = min(self.written_back_bytes, self.size_bytes)
            offset = min(offset, place.base_offset)
        self.offset_index.truncate(offset)
        self.time_index.truncate(offset)
        self.transactions.truncate(offset)
        self._bytes_since_entry = 0
        self._indexes_are_full = False
        self.max_timestamp, self.offset_of_max_timestamp = self.time_index.last() or (
            _NO_TIMESTAMP,
            self.base_offset,
        )
        self._look_behind_last_entry()
        if not self.size_bytes:
            self.first_timestamp, self.may_be_old_from = None, _NEVER
        return offset

    def _look_behind_last_entry(self) -> None:
        """Timestamps of the batches that no entry of the time index covers yet."""
        for place in self._tail():
            if place.max_timestamp > self.max_timestamp:
                self.max_timestamp = place.max_timestamp
                self.offset_of_max_timestamp = place.last_offset

    def _tail(self) -> Iterator[Place]:
        """The batches from the last one that is indexed."""
        place = self.find(self.offset_index.last()[0]) if self.size_bytes else None
        return walk(self.log, place.position if place else 0, self.size_bytes)

    def end_offset(self) -> int:
        """One past the last offset."""
        end = self.base_offset
        for place in self._tail():
            self._check_range(place)
            end = place.last_offset + 1
        return end

    def _check_range(self, place: Place) -> None:
        """The checksum of a batch does not cover its base offset."""
        first, last = self.base_offset, place.last_offset
        if not first <= place.base_offset <= last <= first + MAX_RELATIVE_OFFSET:
            cause = f"offsets {place.base_offset} to {last} in the segment of {first}"
            raise CorruptLog(self.log.path, place.position, cause)

    def load_timestamps(self) -> None:
        """What an opened segment must know before it is appended to or compared by time."""
        last = self.time_index.last()
        if last is not None and self._find_time(last) is not None:
            last = self.time_index.last()
        if last is not None:
            self.max_timestamp, self.offset_of_max_timestamp = last
        self._look_behind_last_entry()
        for place in walk(self.log, 0, self.size_bytes):
            self._note_first(place.max_timestamp)
            break

    @property
    def knows_timestamps(self) -> bool:
        """Whether `largest_timestamp` needs no look into the files."""
        return self.first_timestamp is not None or not self.size_bytes

    def largest_timestamp(self) -> int:
        if not self.knows_timestamps:
            self.load_timestamps()
        return self.max_timestamp

    def save_indexes(self, *, sync: bool = False) -> None:
        """The offset index last: it says that the others are whole, and may be cut off itself."""
        self.transactions.save(sync=sync)
        if sync:
            self._disk.sync_folder(self.folder)
        if self._time_index is not None:
            self._time_index.save(sync=sync)
        if self._offset_index is not None:
            self._offset_index.save(sync=sync)

    def seal(self) -> None:
        """No more appends: the last timestamp gets its entry, the indexes get their files."""
        if self.reserve.end > self.size_bytes:
            self.log.truncate(self.size_bytes)  # gives back the blocks that were set aside
        self.index_last_timestamp()
        self.save_indexes()

    def index_last_timestamp(self) -> None:
        self.time_index.add(self.max_timestamp, self.offset_of_max_timestamp)

    def flush(self) -> None:
        self.log.sync()
        self.save_indexes(sync=True)

    def close(self, *, keeps_reserve: bool = False) -> None:
        if self._log is not None:
            self._log.close(keeps_reserve=keeps_reserve)
            self._log = None
