"""Segments that have left their log, and whose files are yet to be set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock

from ottla.storage.files import Disk
from ottla.storage.leftovers import SEGMENT_KINDS
from ottla.storage.names import Kind, Stage
from ottla.storage.segment import Segment


class Dropped:
    """The oldest segments of a log, closed. `run` may be called on any thread, and again."""

    def __init__(self, disk: Disk, folder: str, segments: Sequence[Segment]) -> None:
        self._disk = disk
        self._folder = folder
        self._segments = segments
        self._renamed: list[str] = []
        self._is_done = False
        # Whoever needs the names on the loop must wait until a file thread is done with them.
        self._running = Lock()

    def run(self) -> list[str]:
        """The files' new names, to be removed later."""
        with self._running:
            if not self._is_done:
                # What is left must last before the others go: it alone knows where the log ends.
                self._disk.sync_folder(self._folder)
                for segment in self._segments:
                    self._renamed.extend(set_aside(self._disk, segment))
                self._is_done = True
            return self._renamed

    def cancel(self) -> None:
        """The log is deleted: its folder's name, and with it the files', may soon be another's."""
        with self._running:
            self._is_done = True


def set_aside(disk: Disk, segment: Segment, *, with_snapshot: bool = True) -> Iterator[str]:
    """Rename a closed segment's files to `.deleted`, the log itself first, and for good.

    So a crash leaves no log without its indexes, and no later segment gone before this one. Each
    new name is told as soon as it counts, whatever becomes of the others.
    """
    for kind in SEGMENT_KINDS:
        path = segment.path(kind.value)
        if disk.status(path) is not None:
            disk.rename(path, path + Stage.DELETED.value)
            yield path + Stage.DELETED.value
        if kind is Kind.LOG:
            disk.sync_folder(segment.folder)
    if with_snapshot:
        disk.remove(segment.path(Kind.PRODUCERS.value))
