"""Holds what a crash has left of a log against its history, which is then what was left."""

from __future__ import annotations

from itertools import pairwise

from ottla.storage.log import Log
from tests.simulation.entry import Entry
from tests.simulation.history import History, batches_on_disk
from tests.simulation.plain_replay import replay


def reconcile(history: History, log: Log, *, must_reach: int) -> None:
    """Check that the log holds a part of the history and nothing else; then that is the history.

    Everything from the log's start up to `must_reach` must have survived, byte by byte. Where a
    compaction was under way it may have happened, in part, but no key's last value may be gone.
    """
    found = batches_on_disk(log)
    for entry in history.entries:
        history.appended.setdefault(entry.first, entry)
    needed = [e for e in history.entries if e.last >= history.start and e.first < must_reach]
    if history.cleaned is not None:
        check_compacted(history, found, start=log.log_start_offset)
        needed = [e for e in needed if e.first >= history.cleaned_below]
    elif log.config.compacts:
        # Between segments a power cut may leave a gap, and nobody can tell who made it.
        left = iter(history.entries)
        assert all(entry in left for entry in found), describe(found, history.entries)
    elif found:
        firsts = [entry.first for entry in history.entries]
        assert found[0].first in firsts, "the log begins with a batch that nobody appended"
        at = firsts.index(found[0].first)
        expected = history.entries[at : at + len(found)]
        assert found == expected, describe(found, expected)
        assert not needed or found[0].first <= needed[0].first
        assert log.next_offset == found[-1].last + 1
    survived = {entry.first for entry in found}
    lost = [entry.first for entry in needed if entry.first not in survived]
    assert not lost, f"the batches at {lost} should have survived"
    assert log.log_start_offset <= max(history.latest_start, log.segments[0].base_offset)
    # What compaction has left empty at the end of a log that was then cut is not known any more.
    assert log.next_offset >= min(must_reach, history.end) or log.config.compacts
    forget_lost(history, found, log.segments[0].base_offset)
    history.forget_from(log.next_offset)
    history.entries, history.cleaned = found, None
    history.origin = log.next_offset
    history.start = log.log_start_offset
    history.durable_end = min(history.durable_end, log.next_offset)


def forget_lost(history: History, found: list[Entry], base_offset: int) -> None:
    """What was neither deleted nor compacted, and is gone, has never been."""
    survived = {entry.first for entry in found}
    for entry in history.entries:
        is_compacted = history.cleaned is not None and entry.first < history.cleaned_below
        if entry.last >= base_offset and entry.first not in survived and not is_compacted:
            del history.appended[entry.first]


def check_compacted(history: History, found: list[Entry], *, start: int) -> None:
    """Old batches or new ones, in order, and each key with the last value that it had."""
    known = {*history.entries, *(history.cleaned or ())}
    for before, after in pairwise(found):
        assert before.last < after.first
    strange = [entry[:2] for entry in found if entry not in known]
    assert not strange, f"{strange} were neither appended nor compacted"
    below = history.cleaned_below
    expected = latest_values(history, history.entries, start=start, below=below)
    assert latest_values(history, found, start=start, below=below) == expected


def latest_values(
    history: History, entries: list[Entry], *, start: int, below: int
) -> dict[bytes | None, bytes]:
    """What a table made of the log would hold."""
    aborted = {e.first for each in replay(history.everything()).aborted for e in each.batches}
    table: dict[bytes | None, bytes | None] = {}
    for entry in entries:
        if entry.first < below and entry.first not in aborted and not entry.batch().is_control:
            for record in entry.records():
                if record.offset >= start:
                    table[record.key] = record.value
    return {key: value for key, value in table.items() if value is not None}


def describe(found: list[Entry], expected: list[Entry]) -> str:
    """The first place where they differ, in offsets."""
    for number, (left, right) in enumerate(zip(found, expected, strict=False)):
        if left != right:
            return f"batch {number}: {left[:2]} is there, {right[:2]} was appended"
    return f"{len(found)} batches are there, {len(expected)} were appended"
