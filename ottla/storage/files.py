"""The port to the disk. Storage reaches files only through these two small interfaces.

`disk.py` is the real one; the simulation has another that can crash, tear, fill up and rot. Paths
are plain strings. A full disk is an `OSError` with ENOSPC or EDQUOT, a failing one `DiskFailed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ottla.protocol.varint import Buffer


class DiskFailed(Exception):
    """EIO, or a failed fsync: the log directory goes offline and is never retried."""

    def __init__(self, path: str, cause: OSError) -> None:
        super().__init__(f"{path}: {cause.strerror or cause}")
        self.path = path


class CorruptLog(Exception):
    """A file does not hold what it must: a bad checksum, torn or foreign bytes."""

    def __init__(self, path: str, position: int, cause: str) -> None:
        super().__init__(f"{path}, byte {position}: {cause}")
        self.path = path
        self.position = position
        self.cause = cause


class Status(NamedTuple):
    """What a folder listing knows of an entry; a folder's own size counts as 0."""

    size_bytes: int
    modified_ms: int
    is_folder: bool


class Room(NamedTuple):
    """What a file system has in all, and what of it we may still use."""

    total_bytes: int
    usable_bytes: int


class File(Protocol):
    """An open file. Positions are always given; nothing is remembered but the size.

    It follows its file through renames, also of the folder; removed, only a pinned one can be used.
    """

    @property
    def path(self) -> str: ...

    def size(self) -> int: ...

    def append(self, pieces: Sequence[Buffer]) -> None:
        """Add all pieces at the end, or none: what a failed write left behind is cut off again."""

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes; fewer only at the end of the file."""

    def write(self, position: int, data: Buffer) -> None:
        """Overwrite or extend at `position`, wholly or with an error."""

    def truncate(self, size: int) -> None:
        """Cut, or extend with zeros. Releases reserved blocks."""

    def reserve(self, length: int) -> None:
        """Ask for blocks beyond the end without changing the size. May do nothing."""

    def sync(self) -> None:
        """Before this returns a power cut may take what was written. Failure is `DiskFailed`.

        The name of a new file lasts only after `sync_folder`.
        """

    def fileno(self) -> int:
        """The descriptor for `sendfile`; -1 where there is none. True only while pinned."""

    def pin(self) -> int:
        """`fileno`, and it stays open until as many `unpin` came, whoever closes or removes it."""

    def unpin(self) -> None: ...

    def is_cached(self, position: int, length: int) -> bool:
        """Whether a read would not wait for the disk; True where nobody can tell."""

    def read_ahead(self, position: int, length: int) -> None:
        """Wait until the range is in memory: for the file threads, never the loop."""

    def start_write_back(self, position: int, length: int) -> None:
        """Let the disk begin on what was written, so that a later `sync` is short."""

    def close(self, *, keeps_reserve: bool = False) -> None:
        """Releases reserved blocks, unless they go with the file soon. Again is no error."""


class Lock(Protocol):
    """Held until released, or until the process ends."""

    def release(self) -> None: ...


class Disk(Protocol):
    """Files and folders by path."""

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> File:
        """FileNotFoundError unless it is there or `create`."""

    def read(self, path: str) -> bytes:
        """The whole of a small file."""

    def replace(self, path: str, data: bytes) -> None:
        """All of `data` or what was there before, whatever happens: written aside, then renamed."""

    def status(self, path: str) -> Status | None:
        """None if there is nothing at this path."""

    def room(self, path: str) -> Room:
        """Of the file system that the path is on."""

    def names(self, folder: str) -> list[str]:
        """What is in the folder, sorted."""

    def make_folder(self, path: str) -> None:
        """Parents too; no error if it is there."""

    def rename(self, old: str, new: str) -> None:
        """Atomic, and replaces a file at `new`. Lasts only after `sync_folder` of the folder."""

    def remove(self, path: str) -> None:
        """No error if it is gone already."""

    def remove_folder(self, path: str) -> None:
        """With all that is in it. No error if it is gone already."""

    def sync_folder(self, path: str) -> None:
        """Makes creations, renames and removals in the folder last."""

    def set_modified(self, path: str, modified_ms: int) -> None: ...

    def lock(self, path: str) -> Lock:
        """An exclusive lock on a file, created if need be; `BlockingIOError` if someone has it."""
