"""The file beside a log that keeps its leader epochs for longer than its batches."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from ottla.storage.checkpoints import LEADER_EPOCHS, format_leader_epochs, parse_leader_epochs
from ottla.storage.epochs import EpochEntry
from ottla.storage.files import Disk

Entries = tuple[EpochEntry, ...]


class EpochFile:
    """Saved from any thread; what is older never replaces what is newer.

    It is behind the log, and nobody waits for it when a leader changes: what a flush has made last
    is in it, and recovery finds the rest in the batches.
    """

    __slots__ = ("_begun", "_disk", "_saved", "_writing", "_written", "folder")

    def __init__(self, disk: Disk, folder: str) -> None:
        self.folder = folder
        self._disk = disk
        self._saved: Entries = ()
        self._begun = self._written = 0  # the numbers of the newest states
        self._writing = Lock()  # a cut saves on the loop while a file thread may be at it, too

    @property
    def path(self) -> str:
        return f"{self.folder}/{LEADER_EPOCHS}"

    def load(self) -> Entries:
        """There is a file from now on, as Kafka has one for a log without epochs, too."""
        if self._disk.status(self.path) is None:
            self._disk.open(self.path, create=True).close()
        else:
            self._saved = parse_leader_epochs(self._disk.read(self.path), self.path)
        return self._saved

    def prepare(self, entries: Entries) -> Callable[[], None] | None:
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
