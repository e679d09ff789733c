"""The disk had better begin to write what was appended before somebody waits for all of it."""

from __future__ import annotations

from typing import NamedTuple

from ottla.storage.files import File


class WriteBack(NamedTuple):
    """Appended bytes that the disk had better begin with. `run` may be called on any thread."""

    file: File
    position: int
    length: int

    def run(self) -> None:
        try:
            self.file.start_write_back(self.position, self.length)
        finally:
            self.file.unpin()
