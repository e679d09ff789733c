"""Each kind of damage is found, at its place, and in words that say what to do."""

from __future__ import annotations

import pytest

from ottla.logtools.verify import NoLogs, verify
from ottla.protocol.records.batch import build_batch, read_header
from ottla.protocol.records.record import Record
from ottla.storage.index_entries import encode_offset_index, encode_time_index
from ottla.storage.producers import ProducerStates
from ottla.storage.snapshots import encode_snapshot
from ottla.storage.transactions import AbortedTransaction
from tests.unit.logtools.partitions import (
    EPOCHS,
    FOLDER,
    INDEX,
    LOG,
    TIME_INDEX,
    data,
    findings,
    marker,
    partition,
    put,
)

LOG_NAME, INDEX_NAME, TIME_NAME = f"{0:020}.log", f"{0:020}.index", f"{0:020}.timeindex"
TXN_INDEX = f"{FOLDER}/{0:020}.txnindex"
SIX = [data(offset) for offset in range(6)]
SIZE = len(SIX[0])


def test_a_sound_partition_gives_no_findings() -> None:
    report = verify(partition(SIX), FOLDER)
    assert (report.findings, report.is_sound) == ([], True)
    assert (report.partitions, report.size_bytes) == (1, 6 * SIZE)


def test_a_wrong_checksum_is_found_and_the_batches_behind_it_are_still_read() -> None:
    disk = partition(SIX, interval_bytes=10)
    disk.flip_bit(LOG, SIZE + 30)
    disk.flip_bit(LOG, 3 * SIZE + 30)
    assert findings(disk) == [
        ("error", LOG_NAME, SIZE, "the checksum is wrong"),
        ("error", LOG_NAME, 3 * SIZE, "the checksum is wrong"),
    ]


def test_a_torn_last_batch_is_found() -> None:
    disk = partition(SIX, interval_bytes=10_000)
    put(disk, LOG, b"".join(SIX)[:-10])
    put(disk, TIME_INDEX, encode_time_index([(1_004, 4)], 0))
    assert findings(disk) == [
        ("error", LOG_NAME, 5 * SIZE, f"cut off: {SIZE - 10} of {SIZE} bytes")
    ]


def test_zeros_behind_the_last_batch_are_named() -> None:
    disk = partition(SIX)
    put(disk, LOG, b"".join(SIX) + bytes(100))
    [(severity, _, position, what)] = findings(disk)
    assert (severity, position) == ("error", 6 * SIZE)
    assert "preallocated" in what


def test_offsets_that_go_back_are_found() -> None:
    disk = partition(SIX, interval_bytes=10_000)
    put(disk, LOG, b"".join([*SIX, data(3)]))
    assert findings(disk) == [("error", LOG_NAME, 6 * SIZE, "offset 3, where 6 or more was due")]


def test_an_index_entry_that_points_into_a_batch_is_found() -> None:
    disk = partition(SIX)
    put(disk, INDEX, encode_offset_index([(2, 2 * SIZE), (3, 3 * SIZE + 1)], 0))
    [(severity, name, position, what)] = findings(disk)
    assert (severity, name, position) == ("error", INDEX_NAME, 8)
    assert "offset 3" in what


def test_an_index_entry_beyond_the_log_is_found() -> None:
    disk = partition(SIX)
    put(disk, INDEX, encode_offset_index([(9, 60 * SIZE)], 0))
    assert findings(disk) == [
        ("error", INDEX_NAME, 0, "1 entries point beyond the last sound batch of the log")
    ]


def test_an_entry_for_a_group_of_batches_is_right() -> None:
    disk = partition(SIX)
    put(disk, INDEX, encode_offset_index([(3, 1 * SIZE), (5, 4 * SIZE)], 0))
    assert findings(disk) == []


def test_an_entry_for_an_offset_that_ends_no_batch_is_found() -> None:
    batches = [data(0, count=5), data(5, count=5)]
    disk = partition(batches)
    put(disk, INDEX, encode_offset_index([(7, len(batches[0]))], 0))
    assert findings(disk) == [("error", INDEX_NAME, 0, "no batch ends with offset 7")]


def test_entries_out_of_order_are_found() -> None:
    disk = partition(SIX)
    put(disk, INDEX, encode_offset_index([(3, 3 * SIZE), (2, 2 * SIZE)], 0))
    assert ("error", INDEX_NAME, 8) in [found[:3] for found in findings(disk)]


def test_the_unused_tail_of_an_index_is_only_a_note() -> None:
    disk = partition(SIX)
    put(disk, INDEX, disk.read(INDEX) + bytes(80))
    report = verify(disk, FOLDER)
    assert report.is_sound
    assert [finding.severity.value for finding in report.findings] == ["note"]
    assert report.findings[0].what.startswith("10 entries are zeros at the end: preallocated")


def test_half_an_entry_is_found() -> None:
    disk = partition(SIX)
    put(disk, INDEX, disk.read(INDEX) + b"\0")
    assert findings(disk)[0][0] == "error"


def test_a_time_that_is_not_in_the_log_is_found() -> None:
    disk = partition(SIX)
    put(disk, TIME_INDEX, encode_time_index([(1_002, 2), (7_777, 5)], 0))
    assert findings(disk) == [("error", TIME_NAME, 12, "offset 5 has timestamp 1005, not 7777")]


def test_a_closed_segment_needs_its_largest_timestamp() -> None:
    disk = partition(SIX)
    put(disk, TIME_INDEX, b"")
    assert findings(disk) == []
    for suffix in ("log", "index", "timeindex"):
        put(disk, f"{FOLDER}/{6:020}.{suffix}", b"")
    assert findings(disk) == [
        ("warning", TIME_NAME, None, "the largest timestamp 1005 has no entry")
    ]


def test_a_missing_index_is_found() -> None:
    disk = partition(SIX)
    disk.remove(INDEX)
    assert findings(disk) == [("warning", INDEX_NAME, None, "missing")]


ABORTED = [data(0, producer_id=7, sequence=0), marker(1, producer_id=7)]


def test_an_aborted_transaction_must_be_in_the_index() -> None:
    disk = partition(ABORTED)
    [(severity, name, _, what)] = findings(disk)
    assert (severity, name) == ("error", f"{0:020}.txnindex")
    assert what == "producer 7 aborted 0 to 1: no entry"
    put(disk, TXN_INDEX, AbortedTransaction(7, 0, 1, 2).encode())
    assert findings(disk) == []


@pytest.mark.parametrize(
    "entry",
    [
        AbortedTransaction(8, 0, 1, 2),
        AbortedTransaction(7, 1, 1, 2),
        AbortedTransaction(7, 0, 1, 3),
        AbortedTransaction(7, 0, 5, 6),
    ],
)
def test_a_wrong_entry_of_the_transaction_index_is_found(entry: AbortedTransaction) -> None:
    disk = partition(ABORTED)
    put(disk, TXN_INDEX, entry.encode())
    assert findings(disk) != []


def test_a_committed_transaction_has_no_entry() -> None:
    batches = [data(0, producer_id=7, sequence=0), marker(1, producer_id=7, aborts=False)]
    disk = partition(batches)
    assert findings(disk) == []
    put(disk, TXN_INDEX, AbortedTransaction(7, 0, 1, 2).encode())
    assert findings(disk) != []


def test_a_snapshot_that_disagrees_with_the_log_is_found() -> None:
    disk = partition([data(0, producer_id=7, sequence=4)])
    snapshot = f"{FOLDER}/{1:020}.snapshot"
    states = ProducerStates()
    put(disk, snapshot, encode_snapshot(states.active_producers()))
    assert findings(disk) == []  # a producer may have been forgotten
    other = partition([data(0, producer_id=7, sequence=9)])
    put(other, snapshot, _snapshot_of_sequence_4())
    [(severity, name, _, what)] = findings(other)
    assert (severity, name) == ("error", f"{1:020}.snapshot")
    assert "sequence 4" in what
    assert "sequence 9" in what


def _snapshot_of_sequence_4() -> bytes:
    states = ProducerStates()
    header = build_batch(
        [Record(0, 1_000, b"key", b"value")],
        producer_id=7,
        producer_epoch=0,
        base_sequence=4,
        is_transactional=True,
    )
    states.append(read_header(header), base_offset=0, max_timestamp=1_000)
    return encode_snapshot(states.active_producers())


def test_a_snapshot_beyond_the_end_of_the_log_is_found() -> None:
    disk = partition(SIX)
    put(disk, f"{FOLDER}/{99:020}.snapshot", encode_snapshot([]))
    [(severity, _, _, what)] = findings(disk)
    assert (severity, what) == ("warning", "taken at 99, but the log ends at 6")


@pytest.mark.parametrize(
    "text", [b"0\n1\n0 7\n", b"0\n2\n0 0\n1 2\n", b"0\n2\n1 0\n0 3\n", b"0\n7\n0 0\n", b"nonsense"]
)
def test_leader_epochs_that_do_not_fit_the_log_are_found(text: bytes) -> None:
    disk = partition(SIX)
    put(disk, EPOCHS, text)
    assert not verify(disk, FOLDER).is_sound


@pytest.mark.parametrize(("stopped_cleanly", "is_sound"), [(False, True), (True, False)])
def test_newer_leader_epochs_are_missing_only_after_a_clean_stop(
    stopped_cleanly: bool, is_sound: bool
) -> None:
    disk = partition(SIX)
    put(disk, EPOCHS, b"0\n0\n")
    if stopped_cleanly:
        put(disk, f"{FOLDER.rpartition('/')[0]}/.kafka_cleanshutdown", b"")
    assert verify(disk, FOLDER).is_sound is is_sound


@pytest.mark.parametrize("suffix", ["cleaned", "swap", "deleted"])
def test_leftovers_are_named(suffix: str) -> None:
    disk = partition(SIX)
    put(disk, f"{LOG}.{suffix}", b"")
    [(severity, name, _, _)] = findings(disk)
    assert (severity, name) == ("note", f"{LOG_NAME}.{suffix}")


def test_an_index_without_a_log_is_found() -> None:
    disk = partition(SIX)
    put(disk, f"{FOLDER}/{50:020}.index", b"")
    assert findings(disk) == [("warning", f"{50:020}.index", None, f"there is no {50:020}.log")]


def test_a_segment_that_reaches_into_the_next_is_found() -> None:
    disk = partition(SIX)
    for suffix in ("log", "index", "timeindex"):
        put(disk, f"{FOLDER}/{4:020}.{suffix}", b"")
    assert ("error", f"{4:020}.log", None, "the segment before it reaches to offset 6") in findings(
        disk
    )


def test_a_folder_without_logs_is_refused() -> None:
    disk = partition(SIX)
    disk.make_folder("empty")
    with pytest.raises(NoLogs):
        verify(disk, "empty")


def test_progress_ends_at_the_total() -> None:
    heard: list[tuple[int, int]] = []
    verify(partition(SIX), FOLDER, lambda done, total: heard.append((done, total)))
    assert heard[-1] == (6 * SIZE, 6 * SIZE)
    assert heard == sorted(heard)
