"""What was done to a log, told without a log: the measure for what may be left after a crash."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.log import Log


class Entry(NamedTuple):
    """A batch as it was written: its offsets and all its bytes."""

    first: int
    last: int
    data: bytes

    def batch(self) -> Batch:
        return _parse(self.data)

    def records(self) -> list[Record]:
        return _parse_records(self.data)


# The same batches are looked at again and again.
@lru_cache(maxsize=10_000)
def _parse(data: bytes) -> Batch:
    return next(iter(read_batches(data)))


@lru_cache(maxsize=10_000)
def _parse_records(data: bytes) -> list[Record]:
    return _parse(data).records()


@dataclass
class History:
    """Every batch since the log began, or began afresh, in the order of its offsets.

    `durable_end` is how far a power cut may not reach back. Batches below `start` may be gone.
    """

    entries: list[Entry] = field(default_factory=list)
    past: list[Entry] = field(default_factory=list)  # what retention has deleted
    origin: int = 0
    start: int = 0
    latest_start: int = 0  # a crash may set `start` back to where it was last saved
    durable_end: int = 0

    @property
    def end(self) -> int:
        return self.entries[-1].last + 1 if self.entries else self.origin

    def cut(self, offset: int) -> None:
        """The log was truncated; a batch that the offset lies in went with what follows."""
        if cut := [entry.first for entry in self.entries if entry.last >= offset]:
            offset = min(offset, cut[0])
        self.entries = [entry for entry in self.entries if entry.last < offset]
        self.origin = offset
        self.start = min(self.start, offset)
        self.durable_end = min(self.durable_end, offset)

    def start_over(self, offset: int) -> None:
        self.entries, self.past = [], []
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


def reconcile(history: History, log: Log, *, must_reach: int) -> None:
    """Check that the log holds a part of the history and nothing else; then that is the history.

    Everything from the log's start up to `must_reach` must have survived, byte by byte.
    """
    found = batches_on_disk(log)
    needed = [e for e in history.entries if e.last >= history.start and e.first < must_reach]
    if found:
        firsts = [entry.first for entry in history.entries]
        assert found[0].first in firsts, "the log begins with a batch that nobody appended"
        at = firsts.index(found[0].first)
        expected = history.entries[at : at + len(found)]
        assert found == expected, describe(found, expected)
        assert not needed or found[0].first <= needed[0].first
        assert log.next_offset == found[-1].last + 1
        history.past += history.entries[:at]
    else:
        history.past += [entry for entry in history.entries if entry.last < log.next_offset]
    survived = {entry.first for entry in found}
    lost = [entry.first for entry in needed if entry.first not in survived]
    assert not lost, f"the batches at {lost} should have survived"
    assert log.log_start_offset <= max(history.latest_start, log.segments[0].base_offset)
    assert log.next_offset >= min(must_reach, history.end)
    history.entries = found
    history.origin = log.next_offset
    history.start = log.log_start_offset
    history.durable_end = min(history.durable_end, log.next_offset)


def describe(found: list[Entry], expected: list[Entry]) -> str:
    """The first place where they differ, in offsets."""
    for number, (left, right) in enumerate(zip(found, expected, strict=False)):
        if left != right:
            return f"batch {number}: {left[:2]} is there, {right[:2]} was appended"
    return f"{len(found)} batches are there, {len(expected)} were appended"
