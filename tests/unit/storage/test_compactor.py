"""A whole round of compaction on a simulated disk: plan, clean, swap, and a crash at every step."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from ottla.protocol.records.record_set import read_batches
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.disk_faults import Crashed
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.cutting import advance_start, drop_oldest, truncate
from ottla.storage.files import DiskFailed
from ottla.storage.flushing import flush
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.unit.storage.logs import FOLDER, NOW_MS, batch, new_log

ORDERS = ("orders", 0)
COMPACTED = LogConfig(
    segment_bytes=600,
    index_interval_bytes=100,
    compacts=True,
    deletes=False,
    min_cleanable_dirty_ratio=0.01,
)


def fill(log: Log, count: int, *, keys: int = 5) -> dict[bytes, bytes]:
    """Appends, for good; returns the last value of each key."""
    latest: dict[bytes, bytes] = {}
    for number in range(count):
        key, value = b"key-%d" % (number % keys), b"value-%d" % number
        log.append(batch(value, key=key), leader_epoch=0, now_ms=NOW_MS)
        log.commit()
        latest[key] = value
    log.advance_high_watermark(log.next_offset)
    flush(log)
    return latest


def read_all(log: Log) -> list[tuple[int, bytes | None, bytes | None]]:
    found = []
    offset = log.log_start_offset
    while (piece := log.read(offset, max_bytes=4096, up_to=log.next_offset)) is not None:
        for each in read_batches(piece.read()):
            found += [(r.offset, r.key, r.value) for r in each.records() if r.offset >= offset]
            offset = max(offset, each.last_offset + 1)
    return found


def compact(log: Log, disk: SimulatedDisk, checkpoint: dict[tuple[str, int], int]) -> list[str]:
    compactor = Compactor(InlineCleaner(disk), map_bytes=1_000_000)
    assert compactor.start({ORDERS: log}, checkpoint, now_ms=NOW_MS) == ORDERS
    replaced = compactor.poll()
    assert not compactor.is_busy
    return replaced


def test_only_the_last_value_of_each_key_stays_in_the_closed_segments() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    latest = fill(log, 60)
    before, end = read_all(log), log.next_offset
    checkpoint: dict[tuple[str, int], int] = {}
    replaced = compact(log, disk, checkpoint)
    after = read_all(log)
    assert len(after) < len(before) / 2
    assert set(after) < set(before)
    assert {key: value for _, key, value in after} == latest
    assert log.next_offset == end
    assert checkpoint[ORDERS] == log.active.base_offset
    assert all(path.endswith(".deleted") for path in replaced)
    assert fill(log, 1)  # and it goes on


def test_nothing_is_dropped_for_what_a_power_cut_may_take() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    fill(log, 20)
    for number in range(20):
        log.append(batch(b"new-%d" % number, key=b"key"), leader_epoch=0, now_ms=NOW_MS)
        log.commit()
    log.advance_high_watermark(log.next_offset)
    log.roll(now_ms=NOW_MS)
    checkpoint: dict[tuple[str, int], int] = {}
    compact(log, disk, checkpoint)
    assert checkpoint[ORDERS] <= 20
    assert next(value for _, key, value in read_all(log) if key == b"key") == b"new-0"


def test_segments_that_were_deleted_meanwhile_do_not_come_back() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    fill(log, 60)
    advance_start(log, log.segments[2].base_offset + 1)
    compactor = Compactor(InlineCleaner(disk), map_bytes=1_000_000)
    compactor.start({ORDERS: log}, {}, now_ms=NOW_MS)
    drop_oldest(log, 2, now_ms=NOW_MS)
    before = read_all(log)
    assert compactor.poll() == []
    assert not compactor.is_busy
    assert read_all(log) == before


def test_a_log_that_was_cut_meanwhile_is_left_alone() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    fill(log, 60)
    compactor = Compactor(InlineCleaner(disk), map_bytes=1_000_000)
    compactor.start({ORDERS: log}, {}, now_ms=NOW_MS)
    truncate(log, 7, now_ms=NOW_MS)
    before = read_all(log)
    assert compactor.poll() == []
    assert not compactor.is_busy
    assert read_all(log) == before
    assert not [name for name in disk.names(FOLDER) if name.endswith(".cleaned")]


@pytest.mark.parametrize("power_cut", [False, True])
def test_a_crash_at_any_write_of_a_compaction_loses_no_key(power_cut: bool) -> None:
    for number in range(1, 400):
        disk = SimulatedDisk(random.Random(number))
        log = new_log(COMPACTED, disk)
        latest = fill(log, 40)
        before = read_all(log)
        recovery_point = log.recovery_point
        disk.fail_at(len(disk.operations) + number)
        try:
            compact(log, disk, {})
        except Crashed:
            pass
        else:
            break  # every operation has had its turn
        after = disk.crash() if power_cut else disk.kill()
        again = open_log(
            after, FOLDER, COMPACTED, Found(False, recovery_point=recovery_point), now_ms=NOW_MS
        )
        found = read_all(again)
        assert {key: value for _, key, value in found} == latest, number
        assert set(found) <= set(before), number
        assert found == sorted(found), number
        assert again.next_offset == 40, number
    else:
        pytest.fail("the compaction never came to its end")
    assert number > 10


LATEST = {b"key-%d" % key: b"value-%d" % (35 + key) for key in range(5)}


class Refused(NamedTuple):
    """A compaction whose swap was refused something, or was not, as its end came first."""

    disk: SimulatedDisk
    log: Log
    compactor: Compactor
    met: bool
    disk_failed: bool


def refused_swap(
    number: int, *, count: int = 1, dies_after: int = 0, disk: SimulatedDisk | None = None
) -> Refused:
    """Operations are refused from the n-th of the swap on; then, if told so, the process dies."""
    disk = disk or SimulatedDisk(random.Random(number))
    log = new_log(COMPACTED, disk)
    assert fill(log, 40) == LATEST
    compactor = Compactor(InlineCleaner(disk), map_bytes=1_000_000)
    compactor.start({ORDERS: log}, {}, now_ms=NOW_MS)
    start = disk.faults.operation_count + number
    disk.refuse_at(start, count=count)
    if dies_after:
        disk.fail_at(start + dies_after)
    disk_failed = False
    try:
        compactor.poll()
    except DiskFailed:
        disk_failed = True
    met = disk.faults.operation_count >= start
    disk.refuse_at(0)
    return Refused(disk, log, compactor, met, disk_failed)


def check_survivor(after: SimulatedDisk, number: int) -> None:
    again = open_log(after, FOLDER, COMPACTED, Found(False, recovery_point=40), now_ms=NOW_MS)
    assert {key: value for _, key, value in read_all(again)} == LATEST, number
    assert again.next_offset == 40
    assert not [name for name in after.names(FOLDER) if "." in name[21:]], number


@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_a_swap_that_is_refused_anywhere_leaves_a_log_that_serves(count: int) -> None:
    for number in range(1, 100):
        swap = refused_swap(number, count=count)
        if not swap.met:
            break
        assert swap.compactor.poll() == []
        if not swap.disk_failed:
            assert {key: value for _, key, value in read_all(swap.log)} == LATEST, number
        assert not swap.compactor.is_busy, number
        check_survivor(swap.disk.crash(), number)
        check_survivor(swap.disk.kill(), number)
    else:
        pytest.fail("the swap never came to its end")
    assert number > 10


@pytest.mark.parametrize("power_cut", [False, True])
def test_a_crash_while_a_swap_is_undone_loses_no_key(power_cut: bool) -> None:
    for number in range(1, 16):
        for dies_after in (1, 2, 3, 4, 6, 9, 13):
            disk = SimulatedDisk(random.Random(number * dies_after))
            try:
                refused_swap(number, disk=disk, dies_after=dies_after)
            except Crashed:
                check_survivor(disk.crash() if power_cut else disk.kill(), number)
            else:
                break  # it was undone before the process could die
        else:
            continue
        assert dies_after > 1


def test_what_a_refused_swap_left_can_be_compacted_again() -> None:
    for number in range(1, 30):
        swap = refused_swap(number)
        latest = fill(swap.log, 10)
        checkpoint: dict[tuple[str, int], int] = {}
        assert swap.compactor.start({ORDERS: swap.log}, checkpoint, now_ms=NOW_MS) == ORDERS
        swap.compactor.poll()
        assert checkpoint[ORDERS] == swap.log.active.base_offset
        found = read_all(swap.log)
        assert {key: value for _, key, value in found} == latest
        assert len(found) < 40
        if not swap.met:
            break


def test_what_an_earlier_swap_set_aside_does_not_come_back() -> None:
    for number in range(1, 30):
        disk = SimulatedDisk(random.Random(number))
        log = new_log(COMPACTED, disk)
        fill(log, 40)
        compact(log, disk, {})
        latest = fill(log, 40)
        before = read_all(log)
        compactor = Compactor(InlineCleaner(disk), map_bytes=1_000_000)
        assert compactor.start({ORDERS: log}, {}, now_ms=NOW_MS) == ORDERS
        disk.refuse_at(disk.faults.operation_count + number)
        compactor.poll()
        assert {key: value for _, key, value in read_all(log)} == latest
        assert set(read_all(log)) <= set(before), number


def test_it_tells_how_dirty_the_logs_were_and_how_much_was_written_again() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    fill(log, 60)
    compactor = Compactor(InlineCleaner(disk), map_bytes=1_000_000)
    compactor.consider(ORDERS, log, {}, now_ms=NOW_MS)
    assert (compactor.looked_ms, compactor.dirtiest_ratio) == (None, 0)
    compactor.looked(NOW_MS)
    assert (compactor.looked_ms, compactor.dirtiest_ratio) == (NOW_MS, 1)
    compactor.start_dirtiest(now_ms=NOW_MS)
    compactor.poll()
    assert 0 < compactor.copied_ratio < 0.5
    compactor.looked(NOW_MS + 1)
    assert (compactor.looked_ms, compactor.dirtiest_ratio) == (NOW_MS + 1, 0)
