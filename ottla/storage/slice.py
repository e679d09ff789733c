"""A part of a log, to be read or sent."""

from __future__ import annotations

from typing import NamedTuple

from ottla.storage.files import File


class Slice(NamedTuple):
    """Bytes of a segment file; they begin with a whole batch."""

    file: File
    position: int
    length: int
    first_offset: int

    def read(self) -> bytes:
        return self.file.read(self.position, self.length)

    def is_cached(self) -> bool:
        """Whether sending it would not wait for the disk; quick enough for the loop."""
        return self.file.is_cached(self.position, self.length)

    def read_ahead(self) -> None:
        """Wait until it is in memory: for a file thread, before it is sent."""
        self.file.read_ahead(self.position, self.length)
