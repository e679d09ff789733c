"""The real disk: the port of `files.py` over the operating system.

Any thread may call anything. Appends to one file are expected from one thread at a time.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from types import TracebackType

from ottla.protocol.varint import Buffer
from ottla.storage import kernel
from ottla.storage.descriptors import Descriptor, Descriptors
from ottla.storage.files import DiskFailed, Room, Status

raise_descriptor_limit = kernel.raise_descriptor_limit
give_back_memory = kernel.give_back_memory

MOST_PIECES = 1_000  # of one writev; the kernel's IOV_MAX is 1,024

# The device or its file system has given up; trying again would only lose more.
_FAILING = {errno.EIO, errno.EROFS, errno.ENODEV, errno.ENXIO, getattr(errno, "EUCLEAN", errno.EIO)}


class _Judging:
    """Turns the errors of a failing disk into `DiskFailed`; the others pass as they are."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, OSError) and error.errno in _FAILING:
            raise DiskFailed(self._path, error) from error


class RealFile:
    """An open file. The descriptor's guard also covers the size, which is never asked again."""

    __slots__ = ("_descriptor", "_reserve_end", "_size")

    def __init__(self, descriptor: Descriptor, size: int) -> None:
        self._descriptor = descriptor
        self._size = size
        self._reserve_end = 0

    @property
    def path(self) -> str:
        return self._descriptor.path

    def size(self) -> int:
        return self._size

    def append(self, pieces: Sequence[Buffer]) -> None:
        # The hottest path there is: what follows costs a third of the write itself.
        descriptor = self._descriptor
        with descriptor.guard:
            number = descriptor.number
            if number < 0:
                number = self._get()
            descriptor.used = True
            start = self._size
            try:
                # At a position, as the descriptor may be a new one that stands at the beginning.
                if len(pieces) == 1:
                    length = len(pieces[0])
                    written = os.pwrite(number, pieces[0], start)
                else:
                    length = sum(map(len, pieces))
                    written = os.pwritev(number, pieces[:MOST_PIECES], start)
                if written != length:
                    _write_rest(number, pieces, start=start, written=written)
            except OSError as error:
                self._cut_back(number, start, error)
                raise
            self._size = start + length

    def write(self, position: int, data: Buffer) -> None:
        if position < 0:  # -1 would mean "wherever the descriptor stands" to pwritev
            raise OSError(errno.EINVAL, "Invalid argument", self.path)
        with self._descriptor.guard, _Judging(self.path):
            number = self._descriptor.get()
            try:
                _write_rest(number, [data], start=position, written=0)
            except OSError as error:
                self._cut_back(number, self._size, error)
                raise
            self._size = max(self._size, position + len(data))

    def read(self, position: int, length: int) -> bytes:
        number = self.pin()
        try:
            with _Judging(self.path):
                data = os.pread(number, length, position)
                if not data or len(data) == length:
                    return data
                parts = [data]
                while data:  # one read returns 2 GiB at most
                    position += len(data)
                    length -= len(data)
                    data = os.pread(number, length, position)
                    parts.append(data)
                return b"".join(parts)
        finally:
            self.unpin()

    def truncate(self, size: int) -> None:
        with self._descriptor.guard, _Judging(self.path):
            # An empty file stays alone: ext4 writes one that was emptied when it is closed, and
            # whoever closes it waits for the disk.
            if size or self._size or self._reserve_end:
                os.ftruncate(self._descriptor.get(), size)
            self._size = size
            self._reserve_end = 0

    def reserve(self, length: int) -> None:
        with self._descriptor.guard, _Judging(self.path):
            number = self._descriptor.get()
            if kernel.reserve_blocks(number, position=self._size, length=length):
                self._reserve_end = self._size + length
                return
            # A disk too full for all of it may have given a part, its very last blocks: others
            # need them more. Where nothing was given, this does nothing.
            with contextlib.suppress(OSError):
                os.ftruncate(number, self._size)
                self._reserve_end = 0

    def sync(self) -> None:
        # Pinned, not guarded: the loop appends while a file thread waits here. An error of a
        # write-back since the descriptor was last open is reported to the next that opens it.
        number = self.pin()
        try:
            kernel.sync_data(number)
        except OSError as error:
            raise DiskFailed(self.path, error) from error
        finally:
            self.unpin()

    def fileno(self) -> int:
        with self._descriptor.guard:
            return self._get()

    def pin(self) -> int:
        with _Judging(self.path):
            return self._descriptor.pin()

    def unpin(self) -> None:
        self._descriptor.unpin()

    def is_cached(self, position: int, length: int) -> bool:
        number = self.pin()
        try:
            return kernel.is_cached(number, position=position, length=length)
        finally:
            self.unpin()

    def read_ahead(self, position: int, length: int) -> None:
        number = self.pin()
        try:
            with _Judging(self.path):
                kernel.read_ahead(number, position=position, length=length)
        finally:
            self.unpin()

    def start_write_back(self, position: int, length: int) -> None:
        number = self.pin()
        try:
            kernel.start_write_back(number, position=position, length=length)
        finally:
            self.unpin()

    def close(self, *, keeps_reserve: bool = False) -> None:
        with self._descriptor.guard, _Judging(self.path):
            try:
                # Whoever removed the file has released its blocks, too.
                keeps_reserve = keeps_reserve or self._descriptor.removed
                if self._reserve_end > self._size and not keeps_reserve:
                    os.ftruncate(self._descriptor.get(), self._size)
                    self._reserve_end = 0
            finally:
                self._descriptor.close()

    def _get(self) -> int:
        with _Judging(self.path):
            return self._descriptor.get()

    def _cut_back(self, number: int, size: int, error: OSError) -> None:
        """After a failed write: the file's size is the log's end again, or the disk has failed."""
        try:
            if os.fstat(number).st_size > size:
                os.ftruncate(number, size)
                self._reserve_end = 0
        except OSError as worse:
            raise DiskFailed(self.path, worse) from error
        if error.errno in _FAILING:
            raise DiskFailed(self.path, error) from error


def _write_rest(number: int, pieces: Sequence[Buffer], *, start: int, written: int) -> None:
    """Write what is left of the pieces after the first `written` bytes."""
    position = start
    while True:
        position += written
        for index, piece in enumerate(pieces):
            if written < len(piece):
                pieces = [memoryview(piece)[written:], *pieces[index + 1 :]]
                break
            written -= len(piece)
        else:
            return
        written = os.pwritev(number, pieces[:MOST_PIECES], position)
        if not written and len(pieces[0]):
            raise OSError(errno.EIO, "the disk takes no bytes")


class _RealLock:
    """A locked file: the kernel releases it when the process ends, however it ends."""

    def __init__(self, number: int) -> None:
        self._number = number

    def release(self) -> None:
        if self._number >= 0:
            os.close(self._number)
            self._number = -1


class RealDisk:
    """The machine's file systems. Descriptors beyond `max_open_files` are closed when idle."""

    def __init__(self, *, max_open_files: int = 512) -> None:
        self._descriptors = Descriptors(max_open_files)

    def open_descriptor_count(self) -> int:
        return self._descriptors.open_count()

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> RealFile:
        flags = (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC
        number = -1
        with _Judging(path):
            try:
                # Not opened before it is used: a broker has more files than descriptors.
                found = os.stat(path)
            except FileNotFoundError:
                if not create:
                    raise
                number = os.open(path, flags | os.O_CREAT, 0o644)
                found = os.fstat(number)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
        return RealFile(self._descriptors.add(path, flags, number=number), found.st_size)

    def read(self, path: str) -> bytes:
        with _Judging(path), open(path, "rb") as file:
            return file.read()

    def replace(self, path: str, data: bytes) -> None:
        aside = path + ".tmp"
        file = self.open(aside, create=True)
        try:
            try:
                file.truncate(0)  # what a crash may have left of an earlier one
                file.append([data])
                file.sync()
            finally:
                file.close()
            self.rename(aside, path)
        except OSError:
            self.remove(aside)
            raise
        self.sync_folder(os.path.dirname(path) or ".")

    def status(self, path: str) -> Status | None:
        with _Judging(path):
            try:
                found = os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                return None
        is_folder = stat.S_ISDIR(found.st_mode)
        size_bytes = 0 if is_folder else found.st_size
        return Status(size_bytes, found.st_mtime_ns // 1_000_000, is_folder)

    def room(self, path: str) -> Room:
        with _Judging(path):
            found = os.statvfs(path)
        return Room(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    def names(self, folder: str) -> list[str]:
        with _Judging(folder):
            return sorted(os.listdir(folder))

    def make_folder(self, path: str) -> None:
        with _Judging(path):
            os.makedirs(path, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        with _Judging(old):
            self._descriptors.rename(old, new)

    def remove(self, path: str) -> None:
        with _Judging(path), contextlib.suppress(FileNotFoundError):
            self._descriptors.unlink(path)

    def remove_folder(self, path: str) -> None:
        with _Judging(path), contextlib.suppress(FileNotFoundError):
            with os.scandir(path) as entries:
                is_folder = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
            for name, has_more in is_folder.items():
                (self.remove_folder if has_more else self.remove)(f"{path}/{name}")
            os.rmdir(path)

    def sync_folder(self, path: str) -> None:
        with _Judging(path):
            number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(number)
        except OSError as error:
            raise DiskFailed(path, error) from error
        finally:
            os.close(number)

    def set_modified(self, path: str, modified_ms: int) -> None:
        with _Judging(path):
            os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def lock(self, path: str) -> _RealLock:
        with _Judging(path):
            number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                kernel.lock_file(number)
            except OSError:
                os.close(number)
                raise
            return _RealLock(number)
