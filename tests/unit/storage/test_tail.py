"""What was written last is found without a look at the file, and as one would find it there."""

from __future__ import annotations

import random

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig
from ottla.storage.cutting import truncate
from ottla.storage.log import Log
from ottla.storage.slice import Slice
from tests.unit.storage.logs import NOW_MS, append, batch, new_log

SMALL = LogConfig(segment_bytes=1_000, index_interval_bytes=200)


def looked_up(log: Log, offset: int, *, max_bytes: int, up_to: int) -> Slice | None:
    """As `read`, of a log that has not written it just now."""
    active = log.active
    tail, active.tail = active.tail, (-1, 0, -1)
    try:
        return log.read(offset, max_bytes=max_bytes, up_to=up_to)
    finally:
        active.tail = tail


def check_all(log: Log) -> None:
    for offset in range(log.log_start_offset, log.next_offset):
        for max_bytes in (1, 100, 150, 10_000):
            for up_to in {log.next_offset, offset + 1}:
                found = log.read(offset, max_bytes=max_bytes, up_to=up_to)
                assert found == looked_up(log, offset, max_bytes=max_bytes, up_to=up_to)


@pytest.mark.parametrize("seed", range(20))
def test_every_read_finds_the_same_with_it_and_without(seed: int) -> None:
    chance, log = random.Random(seed), new_log(SMALL)
    for _ in range(30):
        step = chance.random()
        if step < 0.2 and log.next_offset > log.log_start_offset:
            truncate(log, chance.randrange(log.log_start_offset, log.next_offset), now_ms=NOW_MS)
        else:
            for _ in range(chance.randint(1, 3)):  # of one tick
                values = [b"v" * chance.randrange(60)] * chance.randint(1, 3)
                log.append(batch(*values), leader_epoch=0, now_ms=NOW_MS)
            log.commit()
        check_all(log)


def test_nothing_is_read_for_who_was_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    log = new_log()
    for number in range(3):
        append(log, b"%d" % number)
    monkeypatch.setattr("ottla.storage.segment.find", lambda *_, **__: 1 // 0)
    found = log.read(2, max_bytes=1_000, up_to=3)
    assert found is not None
    assert found.first_offset == 2
    with pytest.raises(ZeroDivisionError):
        log.read(1, max_bytes=1_000, up_to=3)


def test_a_write_that_failed_is_not_what_was_written_last() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(disk=disk)
    append(log, b"a")
    disk.fill_up()
    log.append(batch(b"b"), leader_epoch=0, now_ms=NOW_MS)
    with pytest.raises(OSError, match="space"):
        log.commit()
    disk.make_room()
    append(log, b"c")
    check_all(log)
