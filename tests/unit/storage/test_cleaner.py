"""The cleaner reads any segment, writes whole ones beside it, and leaves nothing half done."""

from __future__ import annotations

import errno
from random import Random

import pytest

from ottla.protocol.records.batch import build_batch, read_header, seal_batch
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.record import Record
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.disk_faults import Crashed
from ottla.storage.cleaner import CleanedGroup, clean
from ottla.storage.cleaning_plan import CleaningPlan
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.index import OffsetIndex, TimeIndex
from ottla.storage.retention import SegmentFacts
from ottla.storage.transactions import parse_transaction_index
from tests.unit.storage.compacted_log import WrittenLog, data_records

FOLDER = "/logs/orders-0"


class StoredLog:
    """A log on a simulated disk: two closed segments, and the active one that is not there."""

    def __init__(self, log: WrittenLog, *, split: int | None = None) -> None:
        self.disk = SimulatedDisk(Random(7))
        self.disk.make_folder(FOLDER)
        self.log = log
        split = len(log.batches) // 2 if split is None else split
        self.segments: list[SegmentFacts] = []
        for batches in (log.batches[:split], log.batches[split:]):
            if batches:
                self._store(batches)

    def _store(self, batches: list[bytes]) -> None:
        data = b"".join(batches)
        base_offset = int.from_bytes(data[:8], "big")
        file = self.disk.open(f"{FOLDER}/{base_offset:020d}.log", create=True)
        file.append([data])
        file.close()
        modified_ms = 1_000 + len(self.segments)
        self.segments.append(SegmentFacts(base_offset, len(data), modified_ms))

    def plan(self, *, segment_bytes: int = 1 << 30, interval_bytes: int = 4096) -> CleaningPlan:
        return CleaningPlan(
            tuple(self.segments), 0, self.log.end_offset, tuple(self.log.aborted), (), 1 << 20, 0,
            1_000, segment_bytes, 10_000_000, interval_bytes,
        )  # fmt: skip

    def clean(self, plan: CleaningPlan, *, chunk_bytes: int = 1 << 20) -> list[CleanedGroup]:
        self.progress: list[tuple[int, int]] = []
        self.throttled: list[int] = []
        groups = clean(
            self.disk,
            FOLDER,
            plan,
            now_ms=5_000,
            throttle=self.throttled.append,
            progress=lambda done, total: self.progress.append((done, total)),
            chunk_bytes=chunk_bytes,
        )
        return list(groups)

    def cleaned(self, base_offset: int, suffix: str = ".log") -> bytes:
        return self.disk.read(f"{FOLDER}/{base_offset:020d}{suffix}.cleaned")


def updates(count: int, *, keys: int = 3, value_bytes: int = 50) -> WrittenLog:
    log = WrittenLog()
    for number in range(count):
        log.write([(b"key-%02d" % (number % keys), bytes(value_bytes))])
    return log


def test_segments_become_one_with_the_survivors() -> None:
    stored = StoredLog(updates(20))
    (group,) = stored.clean(stored.plan())
    assert data_records([stored.cleaned(0)]) == stored.log.survivors()
    assert group.sources == (0, 10)
    assert (group.records_read, group.records_kept) == (20, 3)
    assert (group.next_dirty_offset, group.is_last) == (20, True)
    assert group.files.size_bytes == len(stored.cleaned(0))


def test_segments_that_do_not_fit_together_become_one_each() -> None:
    stored = StoredLog(updates(20))
    first, last = stored.clean(stored.plan(segment_bytes=1))
    assert (first.sources, first.is_last, first.records_kept) == ((0,), False, 0)
    assert (last.sources, last.is_last, last.records_kept) == ((10,), True, 3)
    assert stored.cleaned(0) == b""
    assert data_records([stored.cleaned(10)]) == stored.log.survivors()


@pytest.mark.parametrize("chunk_bytes", [1, 12, 17, 100, 1_000])
def test_batches_larger_than_a_chunk_are_read_whole(chunk_bytes: int) -> None:
    stored = StoredLog(updates(20, value_bytes=400))
    expected = stored.log.survivors()
    stored.clean(stored.plan(), chunk_bytes=chunk_bytes)
    assert data_records([stored.cleaned(0)]) == expected


def test_the_new_files_are_as_old_as_the_last_source() -> None:
    stored = StoredLog(updates(20))
    (group,) = stored.clean(stored.plan())
    assert group.files.names == tuple(
        f"{0:020d}{suffix}.cleaned" for suffix in (".log", ".index", ".timeindex")
    )
    for name in group.files.names:
        status = stored.disk.status(f"{FOLDER}/{name}")
        assert status is not None
        assert status.modified_ms == 1_001


def test_indexes_are_as_sparse_as_after_appends() -> None:
    stored = StoredLog(updates(98, keys=98))
    (group,) = stored.clean(stored.plan(interval_bytes=1_000))
    size = len(stored.log.batches[0])
    path = f"{FOLDER}/{0:020d}"
    every = 1_000 // size + 1
    expected = list(range(every, 98, every))
    offsets = OffsetIndex.load(stored.disk, f"{path}.index.cleaned", 0)
    assert offsets.entries() == [(number, number * size) for number in expected]
    times = TimeIndex.load(stored.disk, f"{path}.timeindex.cleaned", 0)
    assert times.entries() == [(1_000 + number, number) for number in [*expected, 97]]
    assert (group.files.max_timestamp, group.files.offset_of_max_timestamp) == (1_097, 97)
    assert group.files.index_bytes == 8 * len(expected)


def test_records_without_timestamps_have_no_time_index_entries() -> None:
    log = WrittenLog()
    log.write([(b"key", b"value")], timestamps=[-1])
    stored = StoredLog(log)
    stored.clean(stored.plan())
    assert stored.cleaned(0, ".timeindex") == b""


def test_an_aborted_transaction_is_indexed_while_its_marker_needs_it() -> None:
    log = updates(2)
    log.write([(b"key-01", b"aborted")], producer=7)
    log.end_transaction(7, ControlType.ABORT)
    stored = StoredLog(log)
    (group,) = stored.clean(stored.plan())
    assert group.files.names[-1] == f"{0:020d}.txnindex.cleaned"
    assert parse_transaction_index(stored.cleaned(0, ".txnindex"), "") == log.aborted
    assert data_records([stored.cleaned(0)]) == log.survivors()


def test_everything_is_synced_before_it_is_handed_over() -> None:
    stored = StoredLog(updates(20))
    (group,) = stored.clean(stored.plan(interval_bytes=100))
    for suffix in (".log", ".index", ".timeindex"):
        path = f"{FOLDER}/{0:020d}{suffix}.cleaned"
        kinds = [o[0] for o in stored.disk.operations if o[1] == path and o[0] != "set_modified"]
        assert kinds[-1] == "sync", suffix
    assert group.files.size_bytes > 0


def test_progress_ends_at_the_total_and_every_byte_is_throttled() -> None:
    stored = StoredLog(updates(40))
    size = sum(segment.size_bytes for segment in stored.segments)
    (group,) = stored.clean(stored.plan(), chunk_bytes=500)
    assert stored.progress[-1] == (2 * size, 2 * size)
    assert [done for done, _ in stored.progress] == sorted(done for done, _ in stored.progress)
    assert sum(stored.throttled) == 2 * size + group.files.size_bytes


def test_what_is_left_of_an_earlier_try_is_overwritten() -> None:
    stored = StoredLog(updates(20))
    for suffix in (".log", ".index", ".txnindex"):
        stored.disk.open(f"{FOLDER}/{0:020d}{suffix}.cleaned", create=True).append([b"left"])
    stored.clean(stored.plan())
    assert data_records([stored.cleaned(0)]) == stored.log.survivors()
    assert f"{0:020d}.txnindex.cleaned" not in stored.disk.names(FOLDER)


def cleaned_names(disk: SimulatedDisk) -> list[str]:
    return [name for name in disk.names(FOLDER) if name.endswith(".cleaned")]


def test_a_rotten_batch_stops_the_cleaning_and_is_named() -> None:
    stored = StoredLog(updates(20), split=0)
    size = len(stored.log.batches[0])
    stored.disk.flip_bit(f"{FOLDER}/{0:020d}.log", 5 * size + 70)
    with pytest.raises(CorruptLog) as caught:
        stored.clean(stored.plan())
    assert (caught.value.path, caught.value.position) == (f"{FOLDER}/{0:020d}.log", 5 * size)
    assert cleaned_names(stored.disk) == []


def test_a_segment_that_ends_within_a_batch_is_corrupt() -> None:
    stored = StoredLog(updates(20), split=0)
    stored.disk.open(f"{FOLDER}/{0:020d}.log").truncate(stored.segments[0].size_bytes - 1)
    with pytest.raises(CorruptLog, match="ends inside a batch"):
        stored.clean(stored.plan())


def test_records_that_make_no_sense_are_named_by_their_batch() -> None:
    log = updates(1)
    honest = build_batch([Record(1, 0, b"key", b"value")])
    log.batches.append(seal_batch(read_header(honest)._replace(record_count=2), honest[61:]))
    stored = StoredLog(log, split=0)
    with pytest.raises(CorruptLog, match="within record 1") as caught:
        stored.clean(stored.plan())
    assert caught.value.position == len(log.batches[0])


def test_a_full_disk_leaves_nothing_behind() -> None:
    stored = StoredLog(updates(20, keys=20))
    stored.disk.fill_up()
    with pytest.raises(OSError, match="space") as caught:
        stored.clean(stored.plan())
    assert caught.value.errno == errno.ENOSPC
    assert cleaned_names(stored.disk) == []


def test_a_failing_disk_is_told_from_a_full_one() -> None:
    stored = StoredLog(updates(20))
    stored.disk.break_file(f"{FOLDER}/{10:020d}.log")
    with pytest.raises(DiskFailed):
        stored.clean(stored.plan())


def test_giving_up_leaves_nothing_behind() -> None:
    stored = StoredLog(updates(20))

    def give_up(done_bytes: int, total_bytes: int) -> None:
        if 2 * done_bytes > total_bytes:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        list(
            clean(
                stored.disk,
                FOLDER,
                stored.plan(),
                now_ms=0,
                throttle=lambda _: None,
                progress=give_up,
                chunk_bytes=200,
            )
        )
    assert cleaned_names(stored.disk) == []


def test_a_crash_at_any_moment_leaves_the_sources_as_they_were() -> None:
    number = 0
    while True:
        number += 1
        stored = StoredLog(updates(20))
        sources = {name: stored.disk.read(f"{FOLDER}/{name}") for name in stored.disk.names(FOLDER)}
        stored.disk.fail_at(len(stored.disk.operations) + number)
        try:
            stored.clean(stored.plan(interval_bytes=100))
            break
        except Crashed:
            stored.disk = stored.disk.kill()
        left = [name for name in stored.disk.names(FOLDER) if not name.endswith(".cleaned")]
        assert {name: stored.disk.read(f"{FOLDER}/{name}") for name in left} == sources
        stored.clean(stored.plan())
        assert data_records([stored.cleaned(0)]) == stored.log.survivors()
    assert number > 8
