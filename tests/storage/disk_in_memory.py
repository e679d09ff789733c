"""A disk of files in memory: as much of the port as reading tools and a replacement need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from ottla.protocol.varint import Buffer
from ottla.storage.files import Lock, Status


class MemoryFile:
    """An open file; what is written to it stays in the disk's mapping."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self._data = data

    def size(self) -> int:
        return len(self._data)

    def read(self, position: int, length: int) -> bytes:
        return self._data[position : position + length]

    def append(self, pieces: Sequence[Buffer]) -> None:
        _read_only()

    def write(self, position: int, data: Buffer) -> None:
        _read_only()

    def truncate(self, size: int) -> None:
        _read_only()

    def reserve(self, length: int) -> None:
        _read_only()

    def sync(self) -> None:
        _read_only()

    def fileno(self) -> int:
        return -1

    def pin(self) -> int:
        return -1

    def unpin(self) -> None:
        pass

    def is_cached(self, position: int, length: int) -> bool:
        return True

    def read_ahead(self, position: int, length: int) -> None:
        pass

    def start_write_back(self, position: int, length: int) -> None:
        _read_only()

    def close(self) -> None:
        pass


class MemoryDisk:
    """Folders exist as soon as a file's path goes through them."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> MemoryFile:
        return MemoryFile(path, self.read(path))

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self.files[path]

    def replace(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def status(self, path: str) -> Status | None:
        if path in self.files:
            return Status(len(self.files[path]), 0, is_folder=False)
        is_folder = any(name.startswith(f"{path}/") for name in self.files)
        return Status(0, 0, is_folder=True) if is_folder else None

    def names(self, folder: str) -> list[str]:
        start = f"{folder}/"
        inside = [name[len(start) :] for name in self.files if name.startswith(start)]
        return sorted({name.split("/")[0] for name in inside})

    def make_folder(self, path: str) -> None:
        _read_only()

    def rename(self, old: str, new: str) -> None:
        self.files[new] = self.files.pop(old)

    def remove(self, path: str) -> None:
        self.files.pop(path, None)

    def remove_folder(self, path: str) -> None:
        _read_only()

    def sync_folder(self, path: str) -> None:
        pass

    def set_modified(self, path: str, modified_ms: int) -> None:
        _read_only()

    def lock(self, path: str) -> Lock:
        _read_only()


def _read_only() -> NoReturn:
    raise AssertionError("a reading tool wrote")
