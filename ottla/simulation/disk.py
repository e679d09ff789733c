"""A disk in memory that can lose power, tear writes, fill up, fail and rot: all from one seed.

After a crash it is dead for ever: every use raises `Crashed`, so that nothing tidies up what a real
crash would leave. The survivor is a new disk.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Sequence

from ottla.protocol.varint import Buffer
from ottla.simulation.disk_faults import DiskFaults, Operation
from ottla.simulation.inodes import EntryChange, Folder, Inode, Node, Resize, Tree, Write, path_of
from ottla.storage.files import Room, Status

UNLIMITED_BYTES = 1 << 40  # what a disk without a capacity says that it has


class SimulatedFile:
    """An open file. Removed and not pinned it is of no use at once; a real one only may be so."""

    def __init__(self, disk: SimulatedDisk, inode: Inode, *, writable: bool) -> None:
        self._disk = disk
        self._faults = disk.faults
        self._inode = inode
        self._writable = writable
        self._pins = 0
        self._closed = False

    @property
    def path(self) -> str:
        return path_of(self._inode)

    def size(self) -> int:
        self._faults.check_alive()
        return len(self._inode.cached)

    def append(self, pieces: Sequence[Buffer]) -> None:
        self._write("append", len(self._inode.cached), b"".join(pieces))

    def write(self, position: int, data: Buffer) -> None:
        self._write("write", position, bytes(data))

    def read(self, position: int, length: int) -> bytes:
        self._check_usable()
        _check_not_negative(self.path, position, length)
        self._faults.check(self.path)
        return bytes(self._inode.cached[position : position + length])

    def truncate(self, size: int) -> None:
        self._check_usable(to_write=True)
        _check_not_negative(self.path, size)
        with self._faults.operation("truncate", self.path, size):
            self._faults.check(self.path)
            self._change(Resize(size))

    def reserve(self, length: int) -> None:
        self._check_usable()

    def sync(self) -> None:
        self._check_usable()
        with self._faults.operation("sync", self.path):
            self._faults.check(self.path)
            self._inode.sync()

    def fileno(self) -> int:
        self._check_usable()
        return -1

    def pin(self) -> int:
        self._check_usable()
        self._faults.check(self.path)
        self._pins += 1
        return -1

    def unpin(self) -> None:
        self._faults.check_alive()
        assert self._pins > 0
        self._pins -= 1

    def is_cached(self, position: int, length: int) -> bool:
        self._check_usable()
        return True

    def read_ahead(self, position: int, length: int) -> None:
        self._check_usable()
        self._faults.check(self.path)

    def start_write_back(self, position: int, length: int) -> None:
        self._check_usable()

    def close(self, *, keeps_reserve: bool = False) -> None:
        self._faults.check_alive()
        self._closed = True

    def _write(self, kind: str, position: int, data: bytes) -> None:
        self._check_usable(to_write=True)
        _check_not_negative(self.path, position)
        size = len(self._inode.cached)
        room = self._disk.room_from(size - position)
        with self._faults.operation(kind, self.path, position, len(data)) as is_fatal:
            landed = self._faults.landing(self.path, data, room=room, is_fatal=is_fatal)
            if landed:
                self._change(Write(position, data[:landed]))
            if is_fatal:
                return
            self._faults.check(self.path)  # broken: nor can it be cut back
            if landed < len(data):
                # The part that found room could be seen, and synced, until it is cut off again.
                if len(self._inode.cached) > size:
                    self._change(Resize(size))
                raise OSError(errno.ENOSPC, "No space left on device", self.path)

    def _change(self, change: Write | Resize) -> None:
        self._inode.change(change)
        self._inode.modified_ms = self._disk.now_ms()

    def _check_usable(self, *, to_write: bool = False) -> None:
        self._faults.check_alive()
        if self._pins == 0:
            if self._closed:
                raise OSError(errno.EBADF, "the file is closed", self.path)
            if self._inode.folder is None:
                raise FileNotFoundError(errno.ENOENT, "the file is gone", self.path)
        if to_write and not self._writable:
            raise OSError(errno.EBADF, "opened for reading", self.path)


class _SimulatedLock:
    def __init__(self, disk: SimulatedDisk, inode: Inode) -> None:
        self._disk = disk
        self._inode = inode

    def release(self) -> None:
        self._disk.unlock(self._inode)


class SimulatedDisk:
    """A disk as one process has it. `crash` and `kill` end the process and return the disk after.

    Paths are absolute. With `garbage`, a power cut may leave any bytes, and not only zeros, where
    a file's new size was written and its data was not.
    """

    def __init__(
        self,
        random: random.Random,
        *,
        capacity_bytes: int | None = None,
        garbage: bool = False,
        now_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        self.now_ms = now_ms
        self.faults = DiskFaults(random, capacity_bytes=capacity_bytes)
        self._random = random
        self._garbage = garbage
        self._tree = Tree()
        self._locked: dict[Inode, None] = {}

    @property
    def operations(self) -> list[Operation]:
        """The changes and syncs so far: kind, path, and what else belongs to each."""
        return list(self.faults.operations)

    def crash(self) -> SimulatedDisk:
        """The power goes: what was not synced is kept, torn or lost. Again for another outcome."""
        return self._successor(self._tree.after_power_cut(self._random, garbage=self._garbage))

    def kill(self) -> SimulatedDisk:
        """kill -9: the process goes, the kernel stays, and with it all that was written."""
        return self._successor(self._tree)

    def fail_at(self, operation_number: int) -> None:
        """Die in the n-th change or sync, counted from 1: before, within or after it."""
        self.faults.fatal_operation = operation_number

    def refuse_at(self, operation_number: int, *, count: int = 1) -> None:
        """The n-th change or sync, and as many as `count`, are refused; nothing happens to them."""
        self.faults.refused_operations = range(operation_number, operation_number + count)

    def flip_bit(self, path: str, position: int) -> None:
        """Rot: one bit of this byte, in memory and on the medium."""
        inode = self._file(path)
        bit = 1 << self._random.randrange(8)
        for content in (inode.cached, inode.durable):
            if position < len(content):
                content[position] ^= bit

    def fill_up(self) -> None:
        """No file can grow from now on, unless others shrink."""
        self.faults.capacity_bytes = self._tree.used_bytes()

    def make_room(self) -> None:
        self.faults.capacity_bytes = None

    def break_file(self, path: str) -> None:
        """EIO from now on, for this file or for all in this folder."""
        self.faults.broken[path] = None

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> SimulatedFile:
        self.faults.check(path)
        folder, name = self._place(path)
        if name not in folder.cached and create:
            with self.faults.operation("create", path):
                inode = Inode(folder, name, b"", self.now_ms())
                self._tree.change(EntryChange(inode, new=(folder, name)))
        return SimulatedFile(self, self._file(path), writable=writable)

    def read(self, path: str) -> bytes:
        self.faults.check(path)
        return bytes(self._file(path).cached)

    def replace(self, path: str, data: bytes) -> None:
        aside = path + ".tmp"
        file = self.open(aside, create=True)
        try:
            file.truncate(0)
            file.append([data])
            file.sync()
            self.rename(aside, path)
        except OSError:
            self.remove(aside)
            raise
        self.sync_folder(path.rpartition("/")[0] or "/")

    def status(self, path: str) -> Status | None:
        self.faults.check(path)
        try:
            node = self._node(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if isinstance(node, Folder):
            return Status(0, node.modified_ms, is_folder=True)
        return Status(len(node.cached), node.modified_ms, is_folder=False)

    def room(self, path: str) -> Room:
        self.faults.check(path)
        self._node(path)
        used, capacity = self._tree.used_bytes(), self.faults.capacity_bytes
        total = UNLIMITED_BYTES if capacity is None else capacity
        return Room(total, max(0, total - used))

    def names(self, folder: str) -> list[str]:
        self.faults.check(folder)
        return sorted(self._folder(folder).cached)

    def make_folder(self, path: str) -> None:
        self.faults.check(path)
        node: Node = self._tree.root
        for name in _parts(path):
            if not isinstance(node, Folder):
                raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
            if name not in node.cached:
                with self.faults.operation("make_folder", path):
                    made = Folder(node, name, self.now_ms())
                    self._tree.change(EntryChange(made, new=(node, name)))
            node = node.cached[name]
        if not isinstance(node, Folder):
            raise FileExistsError(errno.EEXIST, "File exists", path)

    def rename(self, old: str, new: str) -> None:
        self.faults.check(old)
        self.faults.check(new)
        node = self._node(old)
        folder, name = self._place(new)
        replaced = folder.cached.get(name)
        if replaced is node:
            return
        if isinstance(replaced, Folder) and not isinstance(node, Folder):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", new)
        if isinstance(node, Folder) and isinstance(replaced, Inode):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", new)
        if isinstance(replaced, Folder) and replaced.cached:
            raise OSError(errno.ENOTEMPTY, "Directory not empty", new)
        with self.faults.operation("rename", old, new):
            self._tree.change(EntryChange(node, old=self._place(old), new=(folder, name)))

    def remove(self, path: str) -> None:
        self.faults.check(path)
        try:
            inode = self._file(path)
        except FileNotFoundError:
            return
        with self.faults.operation("remove", path):
            self._tree.change(EntryChange(inode, old=self._place(path)))

    def remove_folder(self, path: str) -> None:
        self.faults.check(path)
        try:
            folder = self._folder(path)
        except FileNotFoundError:
            return
        for name, node in sorted(folder.cached.items()):
            inner = f"{path}/{name}"
            (self.remove_folder if isinstance(node, Folder) else self.remove)(inner)
        with self.faults.operation("remove_folder", path):
            self._tree.change(EntryChange(folder, old=self._place(path)))

    def sync_folder(self, path: str) -> None:
        self.faults.check(path)
        folder = self._folder(path)
        with self.faults.operation("sync_folder", path):
            self._tree.sync(folder)

    def set_modified(self, path: str, modified_ms: int) -> None:
        self.faults.check(path)
        node = self._node(path)
        with self.faults.operation("set_modified", path, modified_ms):
            node.modified_ms = modified_ms

    def lock(self, path: str) -> _SimulatedLock:
        self.open(path, create=True)
        inode = self._file(path)
        if inode in self._locked:
            raise BlockingIOError(errno.EWOULDBLOCK, "someone has the lock", path)
        self._locked[inode] = None
        return _SimulatedLock(self, inode)

    def unlock(self, inode: Inode) -> None:
        self.faults.check_alive()
        self._locked.pop(inode, None)

    def room_from(self, overwritten: int) -> int | None:
        """How many bytes of a write find room, that many of them in place of others."""
        if self.faults.capacity_bytes is None:
            return None
        free = max(0, self.faults.capacity_bytes - self._tree.used_bytes())
        return max(0, free + overwritten)

    def _successor(self, tree: Tree) -> SimulatedDisk:
        self.faults.is_dead = True
        after = SimulatedDisk(self._random, garbage=self._garbage, now_ms=self.now_ms)
        after.faults = self.faults.after_restart()
        after._tree = tree
        return after

    def _place(self, path: str) -> tuple[Folder, str]:
        folder, _, name = path.rpartition("/")
        return self._folder(folder), name

    def _node(self, path: str) -> Node:
        node: Node = self._tree.root
        for name in _parts(path):
            if not isinstance(node, Folder):
                raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
            if name not in node.cached:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
            node = node.cached[name]
        return node

    def _file(self, path: str) -> Inode:
        node = self._node(path)
        if isinstance(node, Folder):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
        return node

    def _folder(self, path: str) -> Folder:
        node = self._node(path)
        if not isinstance(node, Folder):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
        return node


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _check_not_negative(path: str, *numbers: int) -> None:
    if min(numbers) < 0:
        raise OSError(errno.EINVAL, "Invalid argument", path)
