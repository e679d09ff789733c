"""Whether the two indexes of a segment lead where they say, held beside its batches."""

from __future__ import annotations

from ottla.logtools.finding import Finding, error, note, warning
from ottla.logtools.index_lines import REBUILD, live_entries
from ottla.logtools.scan import StoredBatch
from ottla.protocol.records.layout import NO_TIMESTAMP
from ottla.storage.index_entries import (
    OFFSET_ENTRY_BYTES,
    TIME_ENTRY_BYTES,
    parse_offset_index,
    parse_time_index,
)

_ZEROS = "zeros at the end: preallocated, and not closed by a clean stop"


class OffsetIndexCheck:
    """Takes the batches in their order; each entry must name one by its place and its end."""

    def __init__(
        self, data: bytes, *, path: str, base_offset: int, findings: list[Finding]
    ) -> None:
        self._path = path
        self._findings = findings
        entries = parse_offset_index(data, base_offset)
        self._entries = live_entries(entries, (base_offset, 0))
        self._next = 0
        self._open: int | None = None  # an entry whose last offset is yet to come
        check_size(data, OFFSET_ENTRY_BYTES, len(self._entries), path=path, findings=findings)
        check_order(self._entries, OFFSET_ENTRY_BYTES, path=path, findings=findings)

    def check(self, stored: StoredBatch) -> None:
        end = stored.position + stored.size_bytes
        while self._next < len(self._entries) and self._entries[self._next][1] < end:
            self._close_open()
            offset, position = self._entries[self._next]
            if position != stored.position:
                what = f"the entry for offset {offset} points to {position}: no batch begins there"
                self._wrong(what)
            else:
                self._open = offset
            self._next += 1
        # One entry stands for a group of batches appended at once: it has the end of the last.
        if self._open is not None and stored.last_offset >= self._open:
            if stored.last_offset > self._open:
                self._wrong(f"no batch ends with offset {self._open}", before=1)
            self._open = None

    def skip(self, stored: StoredBatch) -> None:
        """A damaged batch: what points to it is as good as it can be."""
        end = stored.position + stored.size_bytes
        while self._next < len(self._entries) and self._entries[self._next][1] < end:
            self._next += 1
        self._open = None

    def finish(self) -> None:
        self._close_open()
        if self._next < len(self._entries):
            left = len(self._entries) - self._next
            self._wrong(f"{left} entries point beyond the last sound batch of the log")

    def _close_open(self) -> None:
        if self._open is not None:
            self._wrong(f"no batch ends with offset {self._open}", before=1)
            self._open = None

    def _wrong(self, what: str, *, before: int = 0) -> None:
        at = (self._next - before) * OFFSET_ENTRY_BYTES
        self._findings.append(error(self._path, at, what, REBUILD))


class TimeIndexCheck:
    """Each entry must name an offset by the largest timestamp up to there."""

    def __init__(
        self, data: bytes, *, path: str, base_offset: int, findings: list[Finding]
    ) -> None:
        self._path = path
        self._findings = findings
        self._entries = live_entries(parse_time_index(data, base_offset), (0, base_offset))
        self._next = 0
        self._largest = NO_TIMESTAMP
        self._due = base_offset
        check_size(data, TIME_ENTRY_BYTES, len(self._entries), path=path, findings=findings)
        check_order(self._entries, TIME_ENTRY_BYTES, path=path, findings=findings)

    def check(self, stored: StoredBatch) -> None:
        assert stored.batch is not None  # only sound batches come here
        timestamp = stored.batch.max_timestamp
        self._largest = max(self._largest, timestamp)
        while self._next < len(self._entries) and (
            self._entries[self._next][1] <= stored.last_offset
        ):
            indexed, offset = self._entries[self._next]
            # Kafka 2.0 names the record, later releases the last of its batch.
            if offset < self._due:
                self._wrong(f"offset {offset} is in no batch")
            elif indexed != timestamp:
                self._wrong(f"offset {offset} has timestamp {timestamp}, not {indexed}")
            elif indexed < self._largest:
                self._wrong(f"an offset before {offset} has a larger timestamp, {self._largest}")
            self._next += 1
        self._due = stored.last_offset + 1

    def skip(self, stored: StoredBatch) -> None:
        while self._next < len(self._entries) and (
            self._entries[self._next][1] <= stored.last_offset
        ):
            self._largest = max(self._largest, self._entries[self._next][0])
            self._next += 1

    def finish(self, *, closed: bool) -> None:
        """`closed` if later segments exist: then the largest timestamp must have its entry."""
        if self._next < len(self._entries):
            left = len(self._entries) - self._next
            self._wrong(f"{left} entries are about offsets beyond the last sound batch")
        last = self._entries[-1][0] if self._entries else NO_TIMESTAMP
        if closed and last < self._largest:
            what = f"the largest timestamp {self._largest} has no entry"
            self._findings.append(warning(self._path, None, what, REBUILD))

    def _wrong(self, what: str) -> None:
        at = self._next * TIME_ENTRY_BYTES
        self._findings.append(error(self._path, at, what, REBUILD))


def check_size(
    data: bytes, entry_bytes: int, live: int, *, path: str, findings: list[Finding]
) -> None:
    odd = len(data) % entry_bytes
    if odd:
        what = f"{len(data)} bytes are no whole number of entries of {entry_bytes}"
        findings.append(error(path, len(data) - odd, what, REBUILD))
    elif live * entry_bytes < len(data):
        unused = len(data) // entry_bytes - live
        findings.append(note(path, live * entry_bytes, f"{unused} entries are {_ZEROS}"))


def check_order(
    entries: list[tuple[int, int]], entry_bytes: int, *, path: str, findings: list[Finding]
) -> None:
    for number in range(1, len(entries)):
        before, after = entries[number - 1], entries[number]
        if after[0] <= before[0] or after[1] <= before[1]:
            what = f"entry {after} does not come after {before}"
            findings.append(error(path, number * entry_bytes, what, REBUILD))
            return
