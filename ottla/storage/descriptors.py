"""Descriptors are fewer than files: an idle file loses its descriptor and regains it on use.

So the path of an open file must stay true: renames and removals of open files pass through here.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import OrderedDict

_MOST_LOOKED_AT = 64  # of the open ones, for each that is opened


class Descriptor:
    """The descriptor of one open file, or the promise of one.

    `guard` is held by whoever uses `number`, so that no other thread closes it meanwhile (and the
    kernel gives the same number to another file). It is held over work in the page cache only;
    whoever may have to wait for the disk pins the descriptor and leaves the guard.
    """

    __slots__ = ("_flags", "_pool", "closed", "guard", "number", "path", "pins", "removed", "used")

    def __init__(self, pool: Descriptors, path: str, flags: int) -> None:
        self._pool = pool
        self._flags = flags
        self.path = path
        self.guard = threading.Lock()
        self.number = -1
        self.pins = 0
        self.used = False
        self.removed = False
        self.closed = False

    def get(self) -> int:
        """The number, opened if need be. The caller holds the guard."""
        self.used = True
        if self.number < 0:
            if self.closed:
                raise OSError(errno.EBADF, "the file is closed", self.path)
            self.number = self._pool.open(self, self._flags)
        return self.number

    def pin(self) -> int:
        with self.guard:
            number = self.get()
            self.pins += 1
            return number

    def unpin(self) -> None:
        with self.guard:
            assert self.pins > 0
            self.pins -= 1
            if self.closed:
                self._close_unpinned()

    def close(self) -> None:
        """The caller holds the guard. A pinned descriptor stays until its last pin is gone."""
        if not self.closed:
            self.closed = True
            self._pool.forget(self)
            self._close_unpinned()

    def _close_unpinned(self) -> None:
        if not self.pins and self.number >= 0:
            number, self.number = self.number, -1
            os.close(number)

    def give_up(self) -> int:
        """The number for the caller to close, or -1 if there is none or someone needs it."""
        # Not waiting: the owner of this guard may be waiting for the lock our caller holds.
        if not self.guard.acquire(blocking=False):
            return -1
        try:
            if self.pins:
                return -1
            number, self.number = self.number, -1
            return number
        finally:
            self.guard.release()


class Descriptors:
    """All descriptors of a disk: at most so many open, those idle for longest closed first.

    `_lock` covers the two tables and renames, since any thread may open a file. Where both are
    held, a descriptor's guard was taken first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._moves = 0
        self._by_path: dict[str, list[Descriptor]] = {}
        self._holders: OrderedDict[Descriptor, None] = OrderedDict()

    def open_count(self) -> int:
        return len(self._holders)

    def add(self, path: str, flags: int, *, number: int) -> Descriptor:
        """A file that was just opened as `number`, or is there to be opened later (-1)."""
        descriptor = Descriptor(self, path, flags)
        with self._lock:
            self._by_path.setdefault(path, []).append(descriptor)
            descriptor.number = number
            surplus = self._hold(descriptor) if number >= 0 else []
        _close_all(surplus)
        return descriptor

    def open(self, descriptor: Descriptor, flags: int) -> int:
        """For `Descriptor.get` alone, which holds the guard."""
        moves = self._moves
        number = _open_if_there(descriptor.path, flags)
        with self._lock:
            if moves != self._moves:
                # Perhaps renamed meanwhile, and another file has its old name. Now none can move.
                _close_all([number])
                number = _open_if_there(descriptor.path, flags)
            if number < 0 or descriptor.removed:
                _close_all([number])
                raise FileNotFoundError(errno.ENOENT, "the file is gone", descriptor.path)
            surplus = self._hold(descriptor)
        _close_all(surplus)
        return number

    def forget(self, descriptor: Descriptor) -> None:
        with self._lock:
            self._holders.pop(descriptor, None)
            there = self._by_path.get(descriptor.path, [])
            if descriptor in there:
                there.remove(descriptor)
                if not there:
                    del self._by_path[descriptor.path]

    def rename(self, old: str, new: str) -> None:
        with self._lock:
            os.rename(old, new)
            if old != new:
                self._lose(new)
                self._follow(old, new)
            self._moves += 1  # last, so that whoever looked meanwhile looks again

    def unlink(self, path: str) -> None:
        # While somebody has it open only its name goes. To give a gigabyte's blocks back takes a
        # third of a second, for which nobody is to wait at the lock.
        number = _open_if_possible(path)
        try:
            with self._lock:
                os.unlink(path)
                self._lose(path)
                self._moves += 1
        finally:
            _close_all([number])

    def _follow(self, old: str, new: str) -> None:
        if old in self._by_path:
            moved = self._by_path[new] = self._by_path.pop(old)
            for descriptor in moved:
                descriptor.path = new
        elif os.path.isdir(new):
            # Asking the folder is cheaper than asking every open file whether it was in there.
            for name in os.listdir(new):
                self._follow(f"{old}/{name}", f"{new}/{name}")

    def _lose(self, path: str) -> None:
        for descriptor in self._by_path.pop(path, ()):
            descriptor.removed = True

    def _hold(self, descriptor: Descriptor) -> list[int]:
        """Enter it, and give up those that are too many: a second chance for what was used.

        A fetch may pin more than there may be: looking through all of them for each that is
        opened would stop the broker for seconds. So a few more stay open for a while.
        """
        self._holders[descriptor] = None
        surplus: list[int] = []
        for _ in range(_MOST_LOOKED_AT):
            if len(self._holders) <= self._most:
                break
            idle, _ = self._holders.popitem(last=False)
            number = -1 if idle.used or idle is descriptor else idle.give_up()
            idle.used = False
            if number >= 0:
                surplus.append(number)
            else:
                self._holders[idle] = None
        return surplus


def _open_if_there(path: str, flags: int) -> int:
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        return -1


def _open_if_possible(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return -1


def _close_all(numbers: list[int]) -> None:
    """Outside the lock if there are many: closing may wait for a disk on the network."""
    for number in numbers:
        if number >= 0:
            os.close(number)
