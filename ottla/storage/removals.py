"""Files and folders that are to be removed, but not yet: someone may still be reading them."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from ottla.storage.files import Disk


class Removals:
    """What `file.delete.delay.ms` holds back. After a restart it is found again by its suffix."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._waiting: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, paths: Iterable[str], *, due_ms: int) -> None:
        for path in paths:
            heappush(self._waiting, (due_ms, path))

    def next_due_ms(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    def take_due(self, *, now_ms: int, most: int) -> list[str]:
        """For `remove`. If that fails they must be added again."""
        due: list[str] = []
        while self._waiting and self._waiting[0][0] <= now_ms and len(due) < most:
            due.append(heappop(self._waiting)[1])
        return due

    def remove(self, paths: Iterable[str]) -> None:
        """On any thread. What is gone already is no error."""
        for path in paths:
            status = self._disk.status(path)
            if status is not None and status.is_folder:
                self._disk.remove_folder(path)
            elif status is not None:
                self._disk.remove(path)
