"""What is explained is what the cleaner then does, on any log; and nothing is touched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.logtools.compaction_outlook import Reason
from ottla.logtools.key_summaries import KeySummaries
from ottla.logtools.partition_state import read_state
from ottla.logtools.verify import NoLogs
from ottla.protocol.records.control import ControlType
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import HIGH_WATERMARKS, LOG_STARTS, format_offsets
from ottla.storage.config import LogConfig
from ottla.storage.facts import log_facts
from ottla.storage.recovery import Found, open_log
from ottla.storage.verdict import Verdict
from tests.storage.log_directories import KAFKA_2_0, KAFKA_3_9, files_of
from tests.unit.logtools.compacted_partition import (
    CHECKPOINT,
    DIRECTORY,
    EAGER,
    FOLDER,
    ORDERS,
    Files,
    compact,
    disk_of,
    fingerprint,
    report_on,
    written,
)
from tests.unit.storage.compacted_log import TINY, WrittenLog, logs

TIMES = st.sampled_from([0, 1_100, 5_000, 100_000_000_000])
CONFIGS = st.builds(
    lambda lag, retention, ratio: replace(
        EAGER,
        min_compaction_lag_ms=lag,
        delete_retention_ms=retention,
        min_cleanable_dirty_ratio=ratio,
    ),
    st.sampled_from([0, 50]),
    st.sampled_from([0, 1_000]),
    st.sampled_from([0.0, 0.5]),
)


@st.composite
def partitions(draw: st.DrawFn) -> Files:
    """A log in several segments, whose last transaction may be open."""
    log = draw(logs())
    for producer in draw(st.lists(st.sampled_from([7, 8]), max_size=2, unique=True)):
        log.write([(b"key-1", b"open"), (b"key-2", None)], producer=producer)
        log.write([(b"key-3", b"after")])
    return written(log, segments=range(0, 40, draw(st.integers(1, 5))))


@given(partitions(), CONFIGS, TIMES, st.sampled_from([TINY, 1 << 20]))
def test_what_is_explained_is_what_the_cleaner_does(
    files: Files, config: LogConfig, now_ms: int, map_bytes: int
) -> None:
    for _ in range(3):
        report, records = report_on(
            disk_of(files), config=config, now_ms=now_ms, map_bytes=map_bytes
        )
        after = compact(files, config=config, now_ms=now_ms, map_bytes=map_bytes)
        assert report.outlook().would_compact == after.was_compacted
        if after.was_compacted:
            assert [r.offset for r in records if r.verdict.keeps] == after.offsets
            assert report.totals.bytes_after == after.size_bytes
        assert not report.findings
        # Without its checkpoint all is dirty again, and the time of tombstones goes on.
        files = {path: data for path, data in after.files.items() if path != CHECKPOINT}
        now_ms += 2_000


@given(partitions())
def test_the_facts_are_those_a_broker_has(files: Files) -> None:
    state = read_state(disk_of(files), FOLDER, EAGER, now_ms=0)
    log = open_log(disk_of(files), FOLDER, EAGER, Found(was_clean=True), now_ms=0)
    log.advance_high_watermark(log.next_offset)
    theirs = log_facts(log, checkpoint=None)
    assert [s[:5] for s in state.log.segments] == [s[:5] for s in theirs.segments]
    assert state.log[1:] == theirs[1:]


@given(partitions(), TIMES)
def test_nothing_is_touched(files: Files, now_ms: int) -> None:
    disk = disk_of(files)
    before = fingerprint(disk, DIRECTORY)
    report_on(disk, now_ms=now_ms)
    assert fingerprint(disk, DIRECTORY) == before


FOLDERS = sorted(
    (tar, path.rpartition("/")[0])
    for tar in (KAFKA_2_0, KAFKA_3_9)
    for path in files_of(tar)
    if path.endswith(f"{0:020}.log")
)


def kafkas(tar: str, folder: str) -> dict[str, bytes]:
    """What Kafka left in this folder, as if it were the partition's."""
    return {
        f"{FOLDER}/{path.rpartition('/')[2]}": data
        for path, data in files_of(tar).items()
        if path.startswith(f"{folder}/")
    }


@pytest.mark.parametrize(("tar", "folder"), FOLDERS)
def test_of_what_kafka_wrote_too_as_much_stays_as_explained(tar: str, folder: str) -> None:
    files = kafkas(tar, folder)
    disk = disk_of(files)
    before = fingerprint(disk, DIRECTORY)
    now_ms = 1_794_800_000_000
    report, records = report_on(disk, now_ms=now_ms)
    after = compact(files, now_ms=now_ms)
    assert fingerprint(disk, DIRECTORY) == before
    assert not report.findings
    assert report.outlook().would_compact == after.was_compacted
    assert report.totals.kept + report.totals.dropped == len(records)
    if after.was_compacted:
        assert [r.offset for r in records if r.verdict.keeps] == after.offsets
        assert report.totals.bytes_after == after.size_bytes


@given(st.sampled_from([place for place in FOLDERS if any(kafkas(*place).values())]), st.data())
def test_a_flipped_bit_anywhere_is_survived(place: tuple[str, str], data: st.DataObject) -> None:
    files = kafkas(*place)
    path = data.draw(st.sampled_from([path for path in files if files[path]]))
    broken = bytearray(files[path])
    broken[data.draw(st.integers(0, len(broken) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    files[path] = bytes(broken)
    report, records = report_on(disk_of(files))
    assert len(records) == report.totals.kept + report.totals.dropped


def test_kafkas_own_compaction_is_known_to_have_happened() -> None:
    disk = disk_of({f"/{path}": data for path, data in files_of(KAFKA_3_9).items()})
    report, records = report_on(disk, "/broker-0/compact-0", now_ms=1_794_772_060_000)
    fates = {r.offset: (r.verdict, r.detail) for r in records}
    assert report.state.log.checkpoint == report.cleanable.first_dirty_offset == 124
    assert report.outlook() == (False, Reason.NOTHING_DIRTY)
    assert fates[115] == (Verdict.KEPT_NEWER_BEYOND, 151)
    assert fates[116] == (Verdict.KEPT_TOMBSTONE, 1_794_772_652_687)
    assert fates[124] == (Verdict.KEPT_ACTIVE, None)


def fates(
    disk: SimulatedDisk, *, now_ms: int = 0, lag_ms: int = 0
) -> list[tuple[int, Verdict, int | None]]:
    config = replace(EAGER, min_compaction_lag_ms=lag_ms)
    _, records = report_on(disk, config=config, now_ms=now_ms)
    return [(r.offset, r.verdict, r.detail) for r in records]


def three_segments() -> WrittenLog:
    log = WrittenLog()
    log.write([(b"a", b"1")])
    log.write([(b"a", b"2"), (b"b", None)])
    log.write([(b"a", b"3")])
    return log


def test_the_newer_record_of_a_key_may_be_out_of_reach() -> None:
    disk = disk_of(written(three_segments(), segments=[1, 2]))
    assert fates(disk, now_ms=7) == [
        (0, Verdict.DROPPED_NEWER, 1),
        (1, Verdict.KEPT_NEWER_BEYOND, 3),
        (2, Verdict.KEPT_NEW_TOMBSTONE, 7 + EAGER.delete_retention_ms),
        (3, Verdict.KEPT_ACTIVE, None),
    ]


def test_the_lag_protects_a_segment_until_its_last_record_is_old_enough() -> None:
    disk = disk_of(written(three_segments(), segments=[1, 2]))
    assert fates(disk, now_ms=1_051, lag_ms=50) == [
        (0, Verdict.KEPT_NEWER_BEYOND, 3),
        (1, Verdict.KEPT_TOO_YOUNG, 1_052),
        (2, Verdict.KEPT_TOO_YOUNG, 1_052),
        (3, Verdict.KEPT_ACTIVE, None),
    ]


def test_an_open_transaction_protects_its_segment_and_all_behind() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1")])
    log.write([(b"a", b"2")], producer=7)
    log.write([(b"a", b"3")])
    log.write([(b"a", b"4")])
    disk = disk_of(written(log, segments=[1, 2, 3]))
    assert fates(disk)[:3] == [
        (0, Verdict.KEPT_NEWER_BEYOND, 3),
        (1, Verdict.KEPT_OPEN_TRANSACTION, 1),
        (2, Verdict.KEPT_OPEN_TRANSACTION, 1),
    ]


def test_what_the_open_transaction_writes_is_no_newer_record_yet() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1")])
    log.write([(b"a", b"2")], producer=7)
    disk = disk_of(written(log, segments=[1]))
    assert fates(disk)[0] == (0, Verdict.KEPT_LATEST, None)
    log.end_transaction(7, ControlType.COMMIT)
    disk = disk_of(written(log, segments=[1]))
    assert fates(disk)[0] == (0, Verdict.KEPT_NEWER_BEYOND, 1)


def test_beyond_the_high_watermark_nothing_is_compacted() -> None:
    files = written(three_segments(), segments=[1, 2])
    files[f"{DIRECTORY}/{HIGH_WATERMARKS}"] = format_offsets({ORDERS: 2})
    assert fates(disk_of(files))[1] == (1, Verdict.KEPT_NOT_REPLICATED, 2)


def test_what_lies_below_the_log_start_goes_with_its_segment() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1"), (b"b", b"1"), (b"c", b"1")])
    log.write([(b"d", b"1")])
    files = written(log, segments=[1])
    files[f"{DIRECTORY}/{LOG_STARTS}"] = format_offsets({ORDERS: 1})
    assert fates(disk_of(files))[:2] == [
        (0, Verdict.KEPT_BELOW_START, 1),
        (1, Verdict.KEPT_LATEST, None),
    ]


def test_a_full_map_leaves_whole_segments_to_a_later_pass() -> None:
    log = WrittenLog()
    log.write([(b"%d" % n, b"") for n in range(20)])
    log.write([(b"%d" % n, b"") for n in range(20, 40)])
    log.write([(b"0", b"")])
    log.write([(b"0", b"")])
    disk = disk_of(written(log, segments=[1, 2, 3]))
    _, records = report_on(disk, map_bytes=TINY)
    told = [r.verdict for r in records]
    assert told.count(Verdict.KEPT_NOT_REACHED) == 14
    assert records[40].verdict is Verdict.KEPT_NOT_REACHED


def test_a_corrupt_batch_ends_the_explanation_and_the_broker_waits() -> None:
    files = written(three_segments(), segments=[1, 2])
    path = f"{FOLDER}/{1:020}.log"
    files[path] = files[path][:-1] + b"!"
    report, records = report_on(disk_of(files))
    (finding,) = report.findings
    assert (finding.file, finding.position) == (path, 0)
    assert [r.offset for r in records] == [0]
    assert report.outlook() == (False, Reason.CORRUPT)


def test_a_half_written_batch_at_the_end_is_only_the_end() -> None:
    files = written(three_segments(), segments=[1, 2])
    path = f"{FOLDER}/{3:020}.log"
    files[path] += files[path][:30]
    report, records = report_on(disk_of(files))
    assert [finding.severity.value for finding in report.findings] == ["note"]
    assert [r.offset for r in records] == [0, 1, 2, 3]
    assert report.outlook().would_compact


@pytest.mark.parametrize(
    ("segments", "checkpoint", "ratio", "reason"),
    [
        ([1, 2], None, 0.5, Reason.DIRTY),
        ([1, 2], 1, 0.99, Reason.NOT_DIRTY_ENOUGH),
        ([1, 2], 3, 0.5, Reason.NOTHING_DIRTY),
        ([], None, 0.5, Reason.NOTHING_CLOSED),
    ],
)
def test_a_broker_has_a_reason(
    segments: list[int], checkpoint: int | None, ratio: float, reason: Reason
) -> None:
    files = written(three_segments(), segments=segments)
    if checkpoint is not None:
        files[CHECKPOINT] = format_offsets({ORDERS: checkpoint})
    report, _ = report_on(disk_of(files), config=replace(EAGER, min_cleanable_dirty_ratio=ratio))
    assert report.outlook() == (reason is Reason.DIRTY, reason)


def test_an_old_record_makes_a_log_overdue() -> None:
    files = written(three_segments(), segments=[1, 2])
    config = replace(EAGER, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=500)
    report, _ = report_on(disk_of(files), config=config, now_ms=2_000)
    assert report.outlook() == (True, Reason.OVERDUE)


def test_a_folder_without_logs_is_refused() -> None:
    with pytest.raises(NoLogs):
        report_on(disk_of({f"{FOLDER}/notes.txt": b""}))


def test_of_too_many_keys_the_large_ones_are_remembered() -> None:
    log = WrittenLog()
    log.write([(b"large", b"x" * 500)])
    for n in range(50):
        log.write([(b"%d" % n, b"y")])
    log.write([(b"large", b"x" * 500)])
    _, records = report_on(disk_of(written(log, segments=[])))
    all_of_them, some = KeySummaries(), KeySummaries(most_keys=10)
    for record in records:
        all_of_them.add(record)
        some.add(record)
    assert len(some) <= 10
    assert some.is_cut
    assert not all_of_them.is_cut
    assert len(all_of_them) == 51
    (top,) = some.top(1)
    assert (top.key, top.records, top.size_bytes) == (b"large", 2, 1_010)
