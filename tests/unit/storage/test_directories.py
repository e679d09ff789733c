"""Log directories: locks, identity, checkpoints, placement, moves, failing disks."""

from __future__ import annotations

import random

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.directory import DirectoryRefused, LogDirectory
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.flushing import flush
from ottla.storage.threads import Inline
from tests.unit.storage.logs import NOW_MS, append, contents

ORDERS = ("orders", 0)
TOPIC_ID = bytes(range(16))
SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)


def open_one(disk: SimulatedDisk, path: str = "/data", *, broker_id: int = 1) -> LogDirectory:
    return LogDirectory.open(
        disk, path, lambda topic: SMALL, broker_id=broker_id, cluster_id="here", now_ms=NOW_MS
    )


def open_all(disk: SimulatedDisk, *paths: str) -> LogDirectories:
    return LogDirectories.open(
        disk, paths, lambda topic: SMALL, broker_id=1, cluster_id="here", now_ms=NOW_MS
    )


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk(random.Random(0))


def test_a_directory_belongs_to_one_broker_at_a_time(disk: SimulatedDisk) -> None:
    open_one(disk)
    with pytest.raises(DirectoryRefused, match="in use by another broker"):
        open_one(disk)


def test_another_broker_s_directory_is_refused(disk: SimulatedDisk) -> None:
    open_one(disk).close(Inline())
    with pytest.raises(DirectoryRefused, match=r"Configured broker\.id 2 doesn't match stored"):
        open_one(disk, broker_id=2)
    open_one(disk)  # and its lock is free again


def test_a_directory_whose_disk_fails_is_not_left_locked(disk: SimulatedDisk) -> None:
    open_one(disk).close(Inline())
    disk.break_file("/data/recovery-point-offset-checkpoint")
    for _ in range(2):
        with pytest.raises(DiskFailed):
            open_one(disk)


def test_a_cleanly_closed_directory_is_not_looked_into(disk: SimulatedDisk) -> None:
    directory = open_one(disk)
    log = directory.create(ORDERS, topic_id=TOPIC_ID, now_ms=NOW_MS)
    for _ in range(10):
        append(log, b"x" * 20)
    log.advance_high_watermark(7)
    expected = contents(log)
    directory.close(Inline())
    again = open_one(disk)
    assert again.was_clean
    before = len(disk.operations)
    assert again.end_offset(ORDERS, now_ms=NOW_MS) == 10
    assert len(disk.operations) == before
    reopened = again.log(ORDERS, now_ms=NOW_MS)
    assert contents(reopened) == expected
    assert reopened.high_watermark == 7
    assert again.topic_id(ORDERS) == TOPIC_ID


def test_after_a_kill_every_partition_is_checked(disk: SimulatedDisk) -> None:
    directory = open_one(disk)
    log = directory.create(ORDERS, topic_id=TOPIC_ID, now_ms=NOW_MS)
    append(log, b"a")
    after = disk.kill()
    again = open_one(after)
    assert not again.was_clean
    checked: list[int] = []
    Inline().run_all(again.recoveries(now_ms=NOW_MS, on_progress=checked.append))
    assert sum(checked) > 0
    assert contents(again.log(ORDERS, now_ms=NOW_MS)) == [(0, b"a")]


def test_a_disk_that_fails_during_recovery_fails_alone(disk: SimulatedDisk) -> None:
    directories = open_all(disk, "/a", "/b")
    for number in range(4):
        append(directories.create(("orders", number), topic_id=None, now_ms=NOW_MS), b"x")
    after = disk.kill()
    broken = next(iter(directories.online["/a"].folders.values()))
    after.break_file(f"/a/{broken}/00000000000000000000.log")
    again = open_all(after, "/a", "/b")
    again.recover(Inline(), now_ms=NOW_MS, on_progress=lambda size_bytes: None)
    assert list(again.online) == ["/b"]
    for partition in again.online["/b"].folders:
        assert contents(again.online["/b"].log(partition, now_ms=NOW_MS)) == [(0, b"x")]


def test_a_corrupt_partition_does_not_keep_the_others_from_opening(disk: SimulatedDisk) -> None:
    directory = open_one(disk)
    for number in range(3):
        log = directory.create(("orders", number), topic_id=None, now_ms=NOW_MS)
        for _ in range(10):
            append(log, b"x" * 20)
        flush(log)
    directory.save_checkpoints()
    after = disk.kill()
    first = "/data/orders-1/00000000000000000000"
    after.flip_bit(f"{first}.log", 150)
    after.remove(f"{first}.index")
    again = open_one(after)
    Inline().run_all(again.recoveries(now_ms=NOW_MS, on_progress=lambda size_bytes: None))
    with pytest.raises(CorruptLog, match="orders-1"):
        again.log(("orders", 1), now_ms=NOW_MS)
    assert len(contents(again.log(("orders", 2), now_ms=NOW_MS))) == 10


def test_a_deleted_partition_is_renamed_first_and_removed_later(disk: SimulatedDisk) -> None:
    directory = open_one(disk)
    directory.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    renamed = directory.delete(ORDERS, tag="ab" * 16)
    assert renamed == f"orders-0.{'ab' * 16}-delete"
    assert ORDERS not in directory.folders
    directory.remove_deleted([renamed])
    assert disk.status(f"/data/{renamed}") is None


def test_a_partition_that_could_not_be_renamed_can_be_deleted_again(
    disk: SimulatedDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = open_one(disk)
    directory.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    with monkeypatch.context() as patched:
        patched.setattr(disk, "rename", failing)
        with pytest.raises(OSError, match="busy"):
            directory.delete(ORDERS, tag="ab" * 16)
    renamed = directory.delete(ORDERS, tag="ab" * 16)
    assert [name for name in disk.names("/data") if name.startswith("orders")] == [renamed]


def failing(_old: str, _new: str) -> None:
    raise OSError("busy")


def test_what_was_to_be_deleted_is_remembered_over_a_restart(disk: SimulatedDisk) -> None:
    directory = open_one(disk)
    directory.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    renamed = directory.delete(ORDERS, tag="ab" * 16)
    directory.close(Inline())
    assert open_one(disk).deleted_folders == [renamed]


def test_new_partitions_go_where_the_fewest_are(disk: SimulatedDisk) -> None:
    directories = open_all(disk, "/a", "/b", "/c")
    for number in range(6):
        directories.create(("orders", number), topic_id=None, now_ms=NOW_MS)
    assert [len(each.folders) for each in directories.online.values()] == [2, 2, 2]


def test_a_failing_disk_takes_only_its_own_partitions(disk: SimulatedDisk) -> None:
    directories = open_all(disk, "/a", "/b")
    for number in range(4):
        directories.create(("orders", number), topic_id=None, now_ms=NOW_MS)
    gone = directories.fail("/a", DiskFailed("/a", OSError("Input/output error")))
    assert len(gone) == 2
    assert list(directories.online) == ["/b"]
    assert "/a" in directories.offline
    for number in range(4):
        found = directories.find(("orders", number))
        assert (found is None) == (("orders", number) in gone)


def test_without_any_directory_there_is_no_start(disk: SimulatedDisk) -> None:
    open_all(disk, "/a").close(Inline())
    disk.break_file("/a/meta.properties")
    with pytest.raises(DirectoryRefused, match="no log directory can be used"):
        open_all(disk, "/a")


def test_a_partition_moves_to_another_directory_with_all_it_has(disk: SimulatedDisk) -> None:
    directories = open_all(disk, "/a", "/b")
    log = directories.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    for _ in range(10):
        append(log, b"x" * 20)
    expected = contents(log)
    directories.start_move(ORDERS, "/b", tag="cd" * 16, now_ms=NOW_MS)
    while not directories.continue_move(ORDERS, max_bytes=300, now_ms=NOW_MS):
        pass
    old = directories.finish_move(ORDERS, tag="ef" * 16, now_ms=NOW_MS)
    holder = directories.find(ORDERS)
    assert holder is not None
    assert holder.path == "/b"
    moved = holder.log(ORDERS, now_ms=NOW_MS)
    assert contents(moved) == expected
    assert append(moved, b"after") == 10
    assert directories.online["/a"].deleted_folders == [old]
    directories.close(Inline())
    again = open_all(disk, "/a", "/b").find(ORDERS)
    assert again is not None
    assert contents(again.log(ORDERS, now_ms=NOW_MS)) == [*expected, (10, b"after")]


def test_a_move_cut_short_leaves_one_partition(disk: SimulatedDisk) -> None:
    directories = open_all(disk, "/a", "/b")
    log = directories.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    append(log, b"x")
    directories.close(Inline())
    disk.make_folder("/b/orders-0")
    again = open_all(disk, "/a", "/b")
    assert [len(each.folders) for each in again.online.values()] == [1, 0]
    holder = again.find(ORDERS)
    assert holder is not None
    assert contents(holder.log(ORDERS, now_ms=NOW_MS)) == [(0, b"x")]
