"""Logs created and opened together: what lasts, what a crash may take, what a full disk leaves."""

from __future__ import annotations

import random

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.disk_faults import Crashed
from ottla.storage.checkpoints import RECOVERY_POINTS, parse_offsets
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.files import DiskFailed
from ottla.storage.flushing import flush
from ottla.storage.opening import DirectoryOffline, Opening, WantedLog
from ottla.storage.threads import Inline
from tests.unit.storage.logs import NOW_MS, append, contents

TOPIC_ID = bytes(range(16))
NAMES = [("orders", number) for number in range(6)]
WANTED = [WantedLog(name, TOPIC_ID, is_new=True) for name in NAMES]


def open_all(disk: SimulatedDisk, *paths: str) -> LogDirectories:
    directories = LogDirectories.open(
        disk,
        paths or ("/data",),
        lambda topic: LogConfig(),
        broker_id=1,
        cluster_id="here",
        now_ms=NOW_MS,
    )
    directories.recover(Inline(), now_ms=NOW_MS, on_progress=lambda size_bytes: None)
    return directories


def opened(directories: LogDirectories, wanted: list[WantedLog] = WANTED) -> Opening:
    opening = Opening(directories, wanted, now_ms=NOW_MS)
    opening.run()
    opening.note()
    return opening


def logs_of(directories: LogDirectories) -> list[tuple[str, int]]:
    return sorted(name for each in directories.online.values() for name in each.logs)


def check_usable(directories: LogDirectories) -> None:
    """Each is there, empty, under its topic's id, and takes records."""
    assert opened(directories).failures == {}
    for name in NAMES:
        directory = directories.find(name)
        assert directory is not None
        assert directory.topic_id(name) == TOPIC_ID
        log = directory.logs[name]
        assert log.next_offset == 0
        assert append(log, b"x") == 0
        assert contents(log) == [(0, b"x")]


def test_many_partitions_are_created_with_one_sync_in_each_directory() -> None:
    disk = SimulatedDisk(random.Random(0))
    directories = open_all(disk, "/a", "/b")
    before = len(disk.operations)
    assert opened(directories).failures == {}
    syncs = [each[:2] for each in disk.operations[before:] if str(each[0]).startswith("sync")]
    assert syncs == [("sync_folder", "/a"), ("sync_folder", "/b")]
    assert [len(each.folders) for each in directories.online.values()] == [3, 3]
    check_usable(directories)


@pytest.mark.parametrize("power_cut", [False, True])
def test_a_crash_at_any_operation_of_a_creation_leaves_what_can_be_opened(power_cut: bool) -> None:
    for number in range(1, 400):
        disk = SimulatedDisk(random.Random(number), garbage=number % 2 == 0)
        directories = open_all(disk)
        disk.fail_at(len(disk.operations) + number)
        try:
            opened(directories)
        except Crashed:
            check_usable(open_all(disk.crash() if power_cut else disk.kill()))
        else:
            assert number > 5 * len(NAMES)  # every operation has had its turn
            return
    raise AssertionError("the creation does not end")


@pytest.mark.parametrize("seed", range(20))
def test_what_is_flushed_in_a_new_partition_outlasts_a_power_cut(seed: int) -> None:
    disk = SimulatedDisk(random.Random(seed))
    directories = open_all(disk)
    opened(directories)
    for name in NAMES:
        log = directories.online["/data"].logs[name]
        append(log, b"kept")
        flush(log)
    directories.online["/data"].save_checkpoints()
    again = open_all(disk.crash())
    assert opened(again).failures == {}
    for name in NAMES:
        log = again.online["/data"].logs[name]
        assert contents(log) == [(0, b"kept")]
        assert log.epochs.epoch_for_offset(0) == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_clean_stop_of_partitions_without_records_outlasts_a_power_cut(seed: int) -> None:
    disk = SimulatedDisk(random.Random(seed))
    directories = open_all(disk)
    opened(directories)
    directories.online["/data"].close(Inline())
    check_usable(open_all(disk.crash()))


def test_a_full_disk_leaves_nothing_of_a_new_partition() -> None:
    disk = SimulatedDisk(random.Random(0))
    directories = open_all(disk)
    before = disk.names("/data")
    disk.fill_up()
    failures = opened(directories).failures
    assert list(failures) == NAMES
    assert all(isinstance(each, OSError) for each in failures.values())
    assert disk.names("/data") == before
    assert logs_of(directories) == []
    disk.make_room()
    check_usable(directories)


def test_a_disk_that_fails_fails_for_all_and_once() -> None:
    disk = SimulatedDisk(random.Random(0))
    directories = open_all(disk, "/a", "/b")
    disk.break_file("/a")
    failures = opened(directories).failures
    assert len(failures) == 3
    assert len({id(each) for each in failures.values()}) == 1
    assert all(isinstance(each, DiskFailed) for each in failures.values())
    assert len(logs_of(directories)) == 3


def test_a_directory_that_goes_meanwhile_takes_its_new_logs_along() -> None:
    directories = open_all(SimulatedDisk(random.Random(0)), "/a", "/b")
    opening = Opening(directories, WANTED, now_ms=NOW_MS)
    opening.run()
    directories.fail("/a", OSError("gone"))
    opening.note()
    assert len(logs_of(directories)) == 3
    assert [type(each) for each in opening.failures.values()] == [DirectoryOffline] * 3


def test_an_old_partition_is_not_made_anew_while_a_directory_is_offline() -> None:
    directories = open_all(SimulatedDisk(random.Random(0)), "/a", "/b")
    directories.fail("/a", OSError("gone"))
    old = WantedLog(("orders", 0), TOPIC_ID, is_new=False)
    assert isinstance(opened(directories, [old]).failures[old.partition], DirectoryOffline)
    assert logs_of(directories) == []


def test_the_offsets_of_a_deleted_partition_are_not_those_of_the_next() -> None:
    disk = SimulatedDisk(random.Random(0))
    directories = open_all(disk)
    directory = directories.online["/data"]
    opened(directories)
    append(directory.logs["orders", 0], b"old")
    flush(directory.logs["orders", 0])
    directory.save_checkpoints()
    directory.delete(("orders", 0), tag="ab" * 16)
    opened(directories, WANTED[:1])
    saved = parse_offsets(disk.read(f"/data/{RECOVERY_POINTS}"), RECOVERY_POINTS)
    assert ("orders", 0) not in saved
    assert directory.logs["orders", 0].next_offset == 0


@pytest.mark.parametrize("left", [b"", b"version: 0\ntopic_id: AAEC"])
def test_a_topic_id_that_was_torn_is_written_again(left: bytes) -> None:
    disk = SimulatedDisk(random.Random(0))
    opened(open_all(disk))
    after = disk.kill()
    after.replace("/data/orders-0/partition.metadata", left)
    after.remove("/data/orders-1/partition.metadata")
    check_usable(open_all(after))
