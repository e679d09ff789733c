"""What an answer is made of: bytes, and ranges of files that go out by `sendfile`."""

from __future__ import annotations

from typing import Protocol


class SourceFile(Protocol):
    """What a piece needs of the file it lies in."""

    def pin(self) -> int: ...

    def unpin(self) -> None: ...

    def read(self, position: int, length: int) -> bytes: ...


class FilePiece:
    """A range of a file. The file stays open until it is sent or `release`d."""

    __slots__ = ("descriptor", "file", "position", "size_bytes")

    def __init__(self, file: SourceFile, position: int, length: int) -> None:
        self.file = file
        self.position = position
        self.size_bytes = length
        self.descriptor = file.pin()

    def __len__(self) -> int:
        return self.size_bytes

    def read(self) -> bytes:
        """For doors that cannot send from a file."""
        return self.file.read(self.position, self.size_bytes)

    def advance(self, count: int) -> None:
        self.position += count
        self.size_bytes -= count

    def release(self) -> None:
        self.file.unpin()


Piece = bytes | memoryview | FilePiece
