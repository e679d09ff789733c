"""What was done to a log, told without a log: the measure for what may be left after a crash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ottla.protocol.records.record_set import read_batches
from ottla.storage.log import Log
from tests.simulation.entry import Entry


@dataclass
class History:
    """Every batch since the log began, or began afresh, in the order of its offsets.

    `durable_end` is how far a power cut may not reach back. Batches below `start` may be gone.
    """

    entries: list[Entry] = field(default_factory=list)
    # All as they were appended, by their first offsets, also those that retention has deleted and
    # those of which compaction has left less.
    appended: dict[int, Entry] = field(default_factory=dict)
    cleaned: list[Entry] | None = None  # what a compaction is about to put here
    cleaned_below: int = 0  # and up to where
    compacted_below: int = 0
    # Then a record may be gone for the sake of a newer one that is gone as well. A broker does not
    # do that: it never cuts below the high watermark, nor compacts above it.
    was_cut_after_compaction: bool = False
    origin: int = 0
    start: int = 0
    latest_start: int = 0  # a crash may set `start` back to where it was last saved
    durable_end: int = 0

    @property
    def end(self) -> int:
        return max(self.entries[-1].last + 1 if self.entries else 0, self.origin)

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries.append(entry)
            self.appended.setdefault(entry.first, entry)

    def everything(self) -> list[Entry]:
        """What the log has ever held, and still counts, in order."""
        return [entry for _, entry in sorted(self.appended.items())]

    def forget_from(self, offset: int) -> None:
        self.appended = {f: entry for f, entry in self.appended.items() if entry.last < offset}

    def cut(self, offset: int) -> None:
        """The log was truncated; a batch that the offset lies in went with what follows."""
        if cut := [entry.first for entry in self.entries if entry.last >= offset]:
            offset = min(offset, cut[0])
        self.was_cut_after_compaction |= offset < self.compacted_below
        self.entries = [entry for entry in self.entries if entry.last < offset]
        self.forget_from(offset)
        self.origin = offset
        self.start = min(self.start, offset)
        self.durable_end = min(self.durable_end, offset)

    def start_over(self, offset: int) -> None:
        self.entries, self.appended = [], {}
        self.compacted_below, self.was_cut_after_compaction = 0, False
        self.origin = self.start = self.latest_start = self.durable_end = offset

    def advance_start(self, offset: int) -> None:
        self.start = max(self.start, offset)
        self.latest_start = max(self.latest_start, self.start)


def batches_on_disk(log: Log) -> list[Entry]:
    """What the segment files hold, read plainly and checked by checksum."""
    found: list[Entry] = []
    for segment in log.segments:
        data = log.disk.read(segment.path(".log"))
        assert len(data) == segment.size_bytes, segment.path(".log")
        read = 0
        for batch in read_batches(data):
            assert batch.base_offset >= segment.base_offset
            found.append(Entry(batch.base_offset, batch.last_offset, bytes(batch.view)))
            read += batch.size_bytes
        assert read == len(data), f"{segment.path('.log')} ends inside a batch"
    return found
