"""What goes wrong with a simulated disk, and when; and the list of what was done to it."""

from __future__ import annotations

import errno
import random
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from ottla.storage.files import DiskFailed

Operation = tuple[str | int, ...]

MOST_OPERATIONS_KEPT = 100_000


class Crashed(BaseException):
    """The process that used this disk is no more. No handler for errors may see it."""


class DiskFaults:
    """The life of one process on the disk, up to its end."""

    def __init__(self, chance: random.Random, *, capacity_bytes: int | None) -> None:
        self.capacity_bytes = capacity_bytes
        self.broken: dict[str, None] = {}
        self.fatal_operation = 0  # counted from 1
        self.refused_operations = range(0)
        self.operation_count = 0
        self.operations: deque[Operation] = deque(maxlen=MOST_OPERATIONS_KEPT)
        self.is_dead = False
        self._chance = chance

    def after_restart(self) -> DiskFaults:
        """A full or failing disk is one still."""
        after = DiskFaults(self._chance, capacity_bytes=self.capacity_bytes)
        after.broken = dict(self.broken)
        return after

    def check_alive(self) -> None:
        if self.is_dead:
            raise Crashed

    def check(self, path: str) -> None:
        """DiskFailed if the file, or a folder it is in, is broken."""
        self.check_alive()
        if self.is_broken(path):
            raise DiskFailed(path, OSError(errno.EIO, "Input/output error", path))

    def is_broken(self, path: str) -> bool:
        return any(path == bad or path.startswith(f"{bad}/") for bad in self.broken)

    @contextmanager
    def operation(self, kind: str, path: str, *details: str | int) -> Iterator[bool]:
        """Around each change and sync. The fatal one dies before it or, told so, within it.

        What is inside must be possible: a refusal (no such file) is not an operation.
        """
        self.check_alive()
        self.operation_count += 1
        self.operations.append((kind, path, *details))
        if self.operation_count in self.refused_operations:
            raise OSError(errno.ENFILE, "Too many open files in system", path)
        is_fatal = self.operation_count == self.fatal_operation
        if is_fatal and self._chance.random() < 0.5:
            self.die()
        try:
            yield is_fatal
        finally:
            if is_fatal:
                self.die()

    def die(self) -> None:
        self.is_dead = True
        raise Crashed

    def landing(self, path: str, data: bytes, *, room: int | None, is_fatal: bool) -> int:
        """How many bytes of a write reach the page cache before it ends, well or badly."""
        most = len(data) if room is None else min(len(data), room)
        # A killed process stops within its write; a failing disk takes what it likes.
        if is_fatal or self.is_broken(path):
            return self._chance.randint(0, most)
        return most
