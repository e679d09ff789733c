"""Everything a log says of itself, held against a plain reading of its batches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from ottla.storage.log import Log
from ottla.storage.segment import Segment
from tests.simulation.committed_view import committed_records
from tests.simulation.entry import Entry
from tests.simulation.history import History, batches_on_disk
from tests.simulation.plain_replay import replay


def check_agreement(log: Log, history: History) -> None:
    entries = batches_on_disk(log)
    for segment in log.segments:
        check_indexes(segment, [e for e in entries if _is_in(log, segment, e)])
    check_reads(log, entries)
    check_times(log, entries)
    check_producers(log, history.everything(), entries)
    check_aborted(log, history.everything(), entries)
    check_committed(log, history.everything(), entries)
    check_epochs(log, entries, history)
    if log.config.compacts and not history.was_cut_after_compaction:
        check_table(log, history.everything(), entries)


def _is_in(log: Log, segment: Segment, entry: Entry) -> bool:
    return log.segments[log.segment_number(entry.first)] is segment


def check_indexes(segment: Segment, entries: list[Entry]) -> None:
    """Each entry points to where a batch starts, with its last offset or its time."""
    ends = list(accumulate((len(entry.data) for entry in entries), initial=0))
    starts = dict(zip(ends, entries, strict=False))
    lasts = {entry.last for entry in entries}
    indexed = segment.offset_index.entries()
    assert indexed == sorted(indexed)
    for offset, position in indexed:
        # Of batches that were appended together, the first's place and the last one's offset.
        assert position in starts
        assert starts[position].first <= offset
        assert offset in lasts
    latest = list(accumulate((entry.batch().max_timestamp for entry in entries), max))
    times = segment.time_index.entries()
    assert times == sorted(times)
    for timestamp, offset in times:
        number = bisect_right(entries, offset, key=lambda entry: entry.first) - 1
        assert number >= 0, f"{segment.time_index.path}: nothing up to {offset}"
        assert timestamp == entries[number].batch().max_timestamp == latest[number]


def check_reads(log: Log, entries: list[Entry]) -> None:
    for offset in range(log.log_start_offset, log.next_offset):
        number = bisect_left(entries, offset, key=lambda entry: entry.last)
        expected = entries[number] if number < len(entries) else None
        found = log.read(offset, max_bytes=1, up_to=log.next_offset)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert found.first_offset == expected.first
            assert found.read() == expected.data


def check_times(log: Log, entries: list[Entry]) -> None:
    start = log.log_start_offset
    records = [(r.timestamp, r.offset) for e in entries for r in e.records() if r.offset >= start]
    latest = list(accumulate((timestamp for timestamp, _ in records), max))
    for asked in sorted({time + near for time, _ in records for near in (0, 1)}):
        number = bisect_left(latest, asked)
        expected = records[number] if number < len(records) else None
        assert log.find_timestamp(asked) == expected, asked


def check_producers(log: Log, everything: list[Entry], entries: list[Entry]) -> None:
    """What survived decides. What was deleted by retention may still be remembered, or not."""
    start = log.log_start_offset
    readable = [entry for entry in entries if entry.last >= start]
    full, surviving = replay(everything), replay(readable)
    states = {state.producer_id: state for state in log.producers.active_producers()}
    assert surviving.producers.keys() <= states.keys() <= full.producers.keys()
    for producer_id, state in states.items():
        expected = full.producers[producer_id]
        known = surviving.producers.get(producer_id)
        if state.batches or (known is not None and known.last_offset >= 0):
            assert state.last_sequence == expected.last_sequence
            assert state.batches[-1].last_offset == expected.last_offset
        _check_first(state.transaction_start, expected.open_since, readable)
    starts = [s.transaction_start for s in states.values() if s.transaction_start >= 0]
    log.advance_high_watermark(log.next_offset)
    stable = min((max(first, start) for first in starts), default=log.next_offset)
    assert log.last_stable_offset == stable


def _check_first(first: int, batches: list[Entry], readable: list[Entry]) -> None:
    """A transaction's first offset; of batches that nobody reads any more, any will do."""
    firsts = {entry.first for entry in readable}
    left = [batch.first for batch in batches if batch.first in firsts]
    if first < 0:
        assert not left
    else:
        assert first in [batch.first for batch in batches]
        assert not left or first <= left[0]


def check_aborted(log: Log, everything: list[Entry], entries: list[Entry]) -> None:
    start = log.log_start_offset
    on_disk = {entry.first for entry in entries}
    readable = [entry for entry in entries if entry.last >= start]
    left = {entry.first for entry in readable}
    expected = {a.marker: a for a in replay(everything).aborted if a.marker in on_disk}
    found = [aborted for segment in log.segments for aborted in segment.aborted]
    for segment in log.segments:
        assert all(_is_in(log, segment, Entry(a[2], a[2], b"")) for a in segment.aborted)
    markers = [aborted.last_offset for aborted in found]
    assert markers == sorted(set(markers)), markers
    for aborted in found:
        known = expected.pop(aborted.last_offset)
        assert known.producer_id == aborted.producer_id
        _check_first(aborted.first_offset, known.batches, readable)
    for missing in expected.values():
        assert not [batch for batch in missing.batches if batch.first in left], missing.marker


def check_committed(log: Log, everything: list[Entry], entries: list[Entry]) -> None:
    """Wherever a consumer begins and however much it fetches, it gets what is committed, all of it.

    Whatever was ever aborted or is still open is none of it.
    """
    full, stable = replay(everything), log.last_stable_offset
    hidden = {entry.first for aborted in full.aborted for entry in aborted.batches}
    expected = [
        record.offset
        for entry in entries
        if entry.first not in hidden and not entry.batch().is_control and entry.last < stable
        for record in entry.records()
    ]
    start, count = log.log_start_offset, log.next_offset - log.log_start_offset
    for offset, max_bytes in ((start, 1), (start + count // 3, 700), (start + count // 2, 10_000)):
        found = [each.offset for each in committed_records(log, offset, max_bytes=max_bytes)]
        assert found == [each for each in expected if each >= offset], (offset, max_bytes)


def check_epochs(log: Log, entries: list[Entry], history: History) -> None:
    """As the batches have them, from the latest start of the log that it knew of."""
    firsts, start = history.appended.keys(), history.latest_start
    for entry in entries:
        header = entry.batch().header
        assert header is not None
        if entry.last >= start:
            epoch = log.epochs.epoch_for_offset(max(entry.first, start))
            assert epoch == header.partition_leader_epoch, entry[:2]
    for epoch_entry in log.epochs.entries[1:]:
        # Of a compacted log a power cut may take the batch and leave what came after it.
        has_begun = epoch_entry.start_offset < log.next_offset
        assert epoch_entry.start_offset in firsts or log.config.compacts or not has_begun


def check_table(log: Log, everything: list[Entry], entries: list[Entry]) -> None:
    """Compacted or not, each key has its last value, and none that was deleted is back.

    What belongs to a transaction without an end does not count: it may yet be aborted.
    """
    full = replay(everything)
    hidden = {entry.first for aborted in full.aborted for entry in aborted.batches}
    hidden |= {entry.first for p in full.producers.values() for entry in p.open_since}
    start = log.log_start_offset
    assert _table(entries, start, hidden) == _table(everything, start, hidden)


def _table(entries: list[Entry], start: int, hidden: set[int]) -> dict[bytes | None, bytes]:
    table: dict[bytes | None, bytes | None] = {}
    for entry in entries:
        if entry.first not in hidden and not entry.batch().is_control:
            table.update((r.key, r.value) for r in entry.records() if r.offset >= start)
    return {key: value for key, value in table.items() if value is not None}
