"""A whole round of compaction on a simulated disk: plan, clean, swap, and a crash at every step."""

from __future__ import annotations

import random

import pytest

from ottla.protocol.records.record_set import read_batches
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.disk_faults import Crashed
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.cutting import truncate
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
    """Appends; returns the last value of each key."""
    latest: dict[bytes, bytes] = {}
    for number in range(count):
        key, value = b"key-%d" % (number % keys), b"value-%d" % number
        log.append(batch(value, key=key), leader_epoch=0, now_ms=NOW_MS)
        log.commit()
        latest[key] = value
    log.advance_high_watermark(log.next_offset)
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
    compactor = Compactor(InlineCleaner(disk), checkpoint, map_bytes=1_000_000)
    assert compactor.start({ORDERS: log}, now_ms=NOW_MS) == ORDERS
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


def test_a_log_that_was_cut_meanwhile_is_left_alone() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    fill(log, 60)
    compactor = Compactor(InlineCleaner(disk), {}, map_bytes=1_000_000)
    compactor.start({ORDERS: log}, now_ms=NOW_MS)
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
        flush(log)
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
