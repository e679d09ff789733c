"""Checkpoints that are saved from two threads, and what must be saved before a log is cut."""

from __future__ import annotations

import random

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoint_file import CheckpointFile
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.directory import LogDirectory
from ottla.storage.flushing import flush
from ottla.storage.threads import Inline
from tests.unit.storage.logs import NOW_MS, append, contents
from tests.unit.storage.test_directories import ORDERS, open_one

RECOVERY_POINTS = "recovery-point-offset-checkpoint"


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk(random.Random(0))
    disk.make_folder("/data")
    return disk


def saved(disk: SimulatedDisk, name: str = RECOVERY_POINTS) -> dict[tuple[str, int], int]:
    return parse_offsets(disk.read(f"/data/{name}"), name)


def test_an_earlier_state_never_replaces_a_later_one(disk: SimulatedDisk) -> None:
    file = CheckpointFile(disk, f"/data/{RECOVERY_POINTS}")
    file.offsets[ORDERS] = 20
    slow = file.prepare()
    assert slow is not None
    assert file.lower(ORDERS, 10)  # it is on its way, so it counts
    file.save()
    slow()
    assert saved(disk) == {ORDERS: 10}


def test_a_state_that_was_refused_is_saved_the_next_time(disk: SimulatedDisk) -> None:
    file = CheckpointFile(disk, f"/data/{RECOVERY_POINTS}")
    file.offsets[ORDERS] = 20
    disk.fill_up()
    write = file.prepare()
    assert write is not None
    with pytest.raises(OSError, match="No space"):
        write()
    disk.make_room()
    again = file.prepare()
    assert again is not None
    again()
    assert saved(disk) == {ORDERS: 20}
    assert file.prepare() is None


def filled(disk: SimulatedDisk) -> LogDirectory:
    directory = open_one(disk)
    log = directory.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    for _ in range(20):
        append(log, b"x" * 20)
    flush(log)
    directory.checkpoints.cleaned_up_to[ORDERS] = 18
    directory.save_checkpoints()
    assert saved(disk) == {ORDERS: 20}
    return directory


def test_no_checkpoint_vouches_for_what_was_truncated(disk: SimulatedDisk) -> None:
    directory = filled(disk)
    cut: list[object] = []
    directory.on_cut = cut.append
    assert not directory.truncate(ORDERS, 20, now_ms=NOW_MS)
    assert not cut
    assert directory.truncate(ORDERS, 7, now_ms=NOW_MS)
    assert cut == [ORDERS]
    assert saved(disk)[ORDERS] <= 7
    assert saved(disk, "cleaner-offset-checkpoint")[ORDERS] <= 7
    assert append(directory.log(ORDERS, now_ms=NOW_MS), b"new") == 7


def test_a_log_is_not_cut_if_the_checkpoint_cannot_be_saved(disk: SimulatedDisk) -> None:
    directory = filled(disk)
    before = contents(directory.log(ORDERS, now_ms=NOW_MS))
    disk.fill_up()
    with pytest.raises(OSError, match="No space"):
        directory.truncate(ORDERS, 7, now_ms=NOW_MS)
    assert contents(directory.log(ORDERS, now_ms=NOW_MS)) == before
    disk.make_room()
    assert directory.truncate(ORDERS, 7, now_ms=NOW_MS)
    assert saved(disk)[ORDERS] <= 7


def test_a_log_that_restarts_below_its_old_start_survives_a_kill(disk: SimulatedDisk) -> None:
    directory = filled(disk)
    directory.advance_start(ORDERS, 15, now_ms=NOW_MS)
    directory.save_checkpoints()
    directory.restart(ORDERS, 5, now_ms=NOW_MS)
    append(directory.log(ORDERS, now_ms=NOW_MS), b"new")
    again = open_one(disk.kill())
    Inline().run_all(again.recoveries(now_ms=NOW_MS, on_progress=lambda size_bytes: None))
    assert contents(again.log(ORDERS, now_ms=NOW_MS)) == [(5, b"new")]


def test_a_new_log_does_not_inherit_from_a_deleted_one(disk: SimulatedDisk) -> None:
    directory = filled(disk)
    directory.advance_start(ORDERS, 15, now_ms=NOW_MS)
    directory.save_checkpoints()
    directory.delete(ORDERS, tag="ab" * 16)
    log = directory.create(ORDERS, topic_id=None, now_ms=NOW_MS)
    append(log, b"new")
    again = open_one(disk.kill())
    Inline().run_all(again.recoveries(now_ms=NOW_MS, on_progress=lambda size_bytes: None))
    assert contents(again.log(ORDERS, now_ms=NOW_MS)) == [(0, b"new")]


def test_deleted_records_stop_a_compaction(disk: SimulatedDisk) -> None:
    directory = filled(disk)
    cut: list[object] = []
    directory.on_cut = cut.append
    directory.advance_start(ORDERS, 3, now_ms=NOW_MS)
    assert directory.log(ORDERS, now_ms=NOW_MS).log_start_offset == 3
    assert cut == [ORDERS]
