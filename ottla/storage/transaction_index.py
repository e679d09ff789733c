"""The file beside a segment that names the aborted transactions whose markers are in it."""

from __future__ import annotations

from bisect import bisect_left

from ottla.storage.files import Disk
from ottla.storage.transactions import (
    ENTRY_BYTES,
    AbortedTransaction,
    count_below,
    parse_transaction_index,
)

_NO_FILE = -1


class TransactionIndex:
    """In memory from when it is first asked for; what is new is in the file after a `save`."""

    __slots__ = ("_base_offset", "_disk", "_entries", "_saved", "path")

    def __init__(self, disk: Disk, path: str, base_offset: int) -> None:
        self.path = path
        self._disk = disk
        self._base_offset = base_offset
        self._entries: list[AbortedTransaction] | None = None
        self._saved = 0  # how many of the entries the file has

    @property
    def entries(self) -> list[AbortedTransaction]:
        """By the offset of the marker; who appends to them must `save`."""
        if self._entries is None:
            self._entries = []
            if self._disk.status(self.path) is not None:
                data = self._disk.read(self.path)
                self._entries = parse_transaction_index(
                    data, self.path, base_offset=self._base_offset
                )
            self._saved = len(self._entries)
        return self._entries

    @property
    def is_unsaved(self) -> bool:
        return self._entries is not None and self._saved != len(self._entries)

    def begin(self) -> None:
        """Of a new segment: there is nothing to read."""
        self._entries, self._saved = [], 0

    def clear(self) -> None:
        self.begin()
        self._disk.remove(self.path)

    def include(self, found: AbortedTransaction) -> None:
        """It is in the log; so it must be in the index, if it is not."""
        entries = self.entries
        number = bisect_left(entries, found.last_offset, key=_marker_offset)
        if number == len(entries) or entries[number].last_offset != found.last_offset:
            entries.insert(number, found)
            self._saved = min(self._saved, number)

    def keep_file(self) -> None:
        """Even an empty one: where transactions end, a missing index is a lost one.

        Kafka has the file only where a transaction was aborted, and reads any.
        """
        if not self.entries and self._disk.status(self.path) is None:
            self._saved = _NO_FILE

    def truncate(self, offset: int) -> None:
        """In the file at once: later nobody could tell old entries from new."""
        entries = self.entries
        del entries[count_below(entries, offset) :]
        if self._saved > len(entries):
            self.save(sync=False)

    def save(self, *, sync: bool) -> None:
        if self._entries is None or not self.is_unsaved:
            return
        kept = max(0, min(self._saved, len(self._entries)))
        file = self._disk.open(self.path, create=True)
        try:
            file.truncate(kept * ENTRY_BYTES)
            file.append([entry.encode() for entry in self._entries[kept:]] or [b""])
            self._saved = len(self._entries)
            if sync:
                file.sync()
        finally:
            file.close()


def _marker_offset(aborted: AbortedTransaction) -> int:
    return aborted.last_offset
