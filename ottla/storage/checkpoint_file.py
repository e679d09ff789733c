"""The four checkpoints of a log directory, and that of a log: in memory, and their files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from ottla.storage.checkpoints import (
    CLEANED_UP_TO,
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_STARTS,
    RECOVERY_POINTS,
    TopicPartition,
    format_leader_epochs,
    format_offsets,
    parse_leader_epochs,
    parse_offsets,
)
from ottla.storage.epochs import EpochEntry
from ottla.storage.files import CorruptLog, Disk

if TYPE_CHECKING:
    from ottla.storage.log import Log  # which has an EpochFile

_logger = logging.getLogger(__name__)


class CheckpointFile:
    """Changed on one thread, saved from any: what is older never replaces what is newer."""

    def __init__(self, disk: Disk, path: str) -> None:
        self.offsets: dict[TopicPartition, int] = {}
        self._disk = disk
        self._path = path
        self._saved: dict[TopicPartition, int] = {}  # on the disk
        self._newest: dict[TopicPartition, int] | None = None  # there, or on its way
        self._state = self._written = 0  # their numbers
        # A cut saves on the loop, and waits here for what a file thread is about to write: were
        # the two to change places, the file would vouch for records that are gone.
        self._writing = Lock()

    def load(self) -> None:
        if self._disk.status(self._path) is None:
            return
        try:
            self.offsets.update(parse_offsets(self._disk.read(self._path), self._path))
        except CorruptLog as error:
            # Without them more is checked or cleaned again than needed; nothing is lost.
            _logger.warning("%s; the checkpoint is ignored", error)
        self._saved = dict(self.offsets)

    def lower(self, partition: TopicPartition, offset: int) -> bool:
        """No more than `offset` from now on; True if the file says more, or is about to."""
        if self.offsets.get(partition, 0) > offset:
            self.offsets[partition] = offset
        states = (self._saved, self._newest or {})
        return any(state.get(partition, 0) > offset for state in states)

    def forget(self, partition: TopicPartition) -> bool:
        """True if the file knows it, or is about to."""
        self.offsets.pop(partition, None)
        return partition in self._saved or partition in (self._newest or {})

    def prepare(self) -> Callable[[], None] | None:
        """What saves the offsets as they are now, on any thread; None if nothing has changed."""
        if self.offsets == self._newest:
            return None
        self._state += 1
        number, offsets = self._state, dict(self.offsets)
        self._newest = offsets

        def write() -> None:
            with self._writing:
                if number > self._written:
                    self._write(number, offsets)

        return write

    def _write(self, number: int, offsets: dict[TopicPartition, int]) -> None:
        try:
            self._disk.replace(self._path, format_offsets(offsets))
        except OSError:
            self._newest = None  # so that the next save does not take it for done
            raise
        self._written, self._saved = number, offsets

    def prepare_anew(self) -> Callable[[], None]:
        """The same, whatever else is on its way."""
        self._newest = None
        write = self.prepare()
        assert write is not None
        return write

    def save(self) -> None:
        self.prepare_anew()()


class EpochFile:
    """Saved from any thread; what is older never replaces what is newer.

    It is behind the log, and nobody waits for it when a leader changes: what a flush has made last
    is in it, and recovery finds the rest in the batches.
    """

    __slots__ = ("_begun", "_disk", "_saved", "_writing", "_written", "folder")

    def __init__(self, disk: Disk, folder: str) -> None:
        self.folder = folder
        self._disk = disk
        self._saved: tuple[EpochEntry, ...] = ()
        self._begun = self._written = 0  # the numbers of the newest states
        self._writing = Lock()  # a cut saves on the loop while a file thread may be at it, too

    @property
    def path(self) -> str:
        return f"{self.folder}/{LEADER_EPOCHS}"

    def load(self) -> tuple[EpochEntry, ...]:
        """There is a file from now on, as Kafka has one for a log without epochs, too."""
        if self._disk.status(self.path) is None:
            self._disk.open(self.path, create=True).close()
        else:
            self._saved = parse_leader_epochs(self._disk.read(self.path), self.path)
        return self._saved

    def prepare(self, entries: tuple[EpochEntry, ...]) -> Callable[[], None] | None:
        """What makes them last, on any thread; None if they do already."""
        if entries == self._saved and self._begun == self._written:
            return None
        self._begun += 1
        number, path = self._begun, self.path

        def write() -> None:
            with self._writing:
                if number > self._written:
                    self._disk.replace(path, format_leader_epochs(entries))
                    self._written, self._saved = number, entries

        return write


class Checkpoints:
    """What a directory remembers of its partitions, by the names of Kafka's files."""

    def __init__(self, disk: Disk, folder: str) -> None:
        names = (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANED_UP_TO)
        self.files = {name: CheckpointFile(disk, f"{folder}/{name}") for name in names}
        self.recovery_points = self.files[RECOVERY_POINTS].offsets
        self.log_starts = self.files[LOG_STARTS].offsets
        self.high_watermarks = self.files[HIGH_WATERMARKS].offsets
        self.cleaned_up_to = self.files[CLEANED_UP_TO].offsets

    def load(self) -> None:
        for file in self.files.values():
            file.load()

    def note_flushed(self, logs: Mapping[TopicPartition, Log]) -> None:
        """Recovery points and log starts of the open logs; what is not open has not changed."""
        for partition, log in logs.items():
            self.recovery_points[partition] = log.recovery_point
            # While the files of dropped segments have their names, only this says that they went.
            if log.log_start_offset > log.segments[0].base_offset or log.unfinished:
                self.log_starts[partition] = log.log_start_offset
            else:
                self.log_starts.pop(partition, None)

    def note_high_watermarks(self, logs: Mapping[TopicPartition, Log]) -> None:
        for partition, log in logs.items():
            self.high_watermarks[partition] = log.high_watermark

    def save(self) -> None:
        for file in self.files.values():
            file.save()

    def lower(self, partition: TopicPartition, offset: int) -> None:
        """Vouch for nothing behind `offset`: before a log is cut there, so that it may not fail."""
        for file in self.files.values():
            if file.lower(partition, offset):
                file.save()

    def forget(self, partition: TopicPartition) -> None:
        for file in self.files.values():
            file.forget(partition)

    def forget_for_good(self, partitions: Iterable[TopicPartition]) -> list[Callable[[], None]]:
        """What must be run, on any thread, before new logs get these names.

        The offsets of the old ones would be taken for theirs.
        """
        names = list(partitions)
        knowing = [file for file in self.files.values() if any([*map(file.forget, names)])]
        return [file.prepare_anew() for file in knowing]
