"""Searching by time in steps, while the log changes and its headers lie."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from ottla.protocol.records.batch import patch_timestamp
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig
from ottla.storage.cutting import advance_start, drop_oldest, truncate
from ottla.storage.flushing import close
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from ottla.storage.timestamp_search import largest_timestamp
from tests.unit.storage.logs import NOW_MS, append, batch, new_log
from tests.unit.storage.test_compactor import COMPACTED, compact, fill

SMALL = LogConfig(segment_bytes=800, index_interval_bytes=100)
LATE_MS = NOW_MS + 1_000_000


def lie(log: Log, count: int) -> None:
    """Batches whose headers promise a time that no record has."""
    for _ in range(count):
        data = batch(b"x" * 20)
        patch_timestamp(data, max_timestamp=LATE_MS, log_append_time=False)
        log.append(data, leader_epoch=0, now_ms=NOW_MS)
        log.commit()


def finish(log: Log, timestamp: int, meanwhile: Callable[[], object]) -> tuple[int, int] | None:
    search = log.search_timestamp(timestamp)
    assert not search.step()
    meanwhile()
    while not search.step():
        pass
    return search.found


def test_a_step_looks_into_one_batch_however_many_lie() -> None:
    log = new_log(SMALL)
    lie(log, 30)
    search = log.search_timestamp(LATE_MS)
    steps = 1
    while not search.step():
        steps += 1
    assert search.found is None
    assert steps > 30
    append(log, b"late", timestamp=LATE_MS)
    assert log.find_timestamp(LATE_MS) == (LATE_MS, 30)


def test_a_step_looks_at_some_records_however_many_a_batch_has() -> None:
    log = new_log()
    data = batch(*[b""] * 5_000)
    patch_timestamp(data, max_timestamp=LATE_MS, log_append_time=False)
    log.append(data, leader_epoch=0, now_ms=NOW_MS)
    log.commit()
    search = log.search_timestamp(NOW_MS + 3_000)
    assert [search.step() for _ in range(3)] == [False, False, True]
    assert search.found == (NOW_MS + 3_000, 3_000)
    assert log.find_timestamp(LATE_MS) is None


def test_an_honest_log_is_found_in_at_once() -> None:
    log = new_log(SMALL)
    for number in range(100):
        append(log, b"x", timestamp=NOW_MS + number)
    search = log.search_timestamp(NOW_MS + 70)
    assert search.step()
    assert search.found == (NOW_MS + 70, 70)


CHANGES: dict[str, Callable[[Log], object]] = {
    "grows": lambda log: append(log, b"new"),
    "loses its end": lambda log: truncate(log, 25, now_ms=NOW_MS),
    "loses its beginning": lambda log: drop_oldest(log, 2, now_ms=NOW_MS),
    "starts later": lambda log: advance_start(log, 15),
    "loses all": lambda log: truncate(log, 0, now_ms=NOW_MS),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_log_may_change_between_two_steps(change: str) -> None:
    log = new_log(SMALL)
    lie(log, 40)

    def meanwhile() -> None:
        CHANGES[change](log)
        append(log, b"late", timestamp=LATE_MS)

    found = finish(log, LATE_MS, meanwhile)
    assert found == (LATE_MS, log.next_offset - 1)
    assert found == log.find_timestamp(LATE_MS)


def test_a_log_may_be_compacted_between_two_steps() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(COMPACTED, disk)
    fill(log, 60)
    for _ in range(3):
        data = batch(b"x", key=b"key")
        patch_timestamp(data, max_timestamp=LATE_MS, log_append_time=False)
        log.append(data, leader_epoch=0, now_ms=NOW_MS)
    log.commit()
    fill(log, 10)
    append_late = batch(b"late", key=b"late", timestamp=LATE_MS)
    log.append(append_late, leader_epoch=0, now_ms=NOW_MS)
    assert finish(log, LATE_MS, lambda: compact(log, disk, {})) == (LATE_MS, 73)


def test_the_times_of_many_segments_are_read_one_segment_at_a_step() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(SMALL, disk)
    while len(log.segments) < 20:
        append(log, b"x" * 200, timestamp=NOW_MS + log.next_offset)
    latest = NOW_MS + log.next_offset - 1
    close(log)
    for asked in ("largest", "search"):
        again = open_log(disk, log.folder, SMALL, Found(was_clean=True), now_ms=NOW_MS)
        steps: Iterator[object] = largest_timestamp(again)
        if asked == "search":
            search = again.search_timestamp(latest)
            steps = iter(search.step, True)
        for known, _ in enumerate(steps, 1):
            assert sum(segment.knows_timestamps for segment in again.segments[:-1]) == known
        assert again.find_timestamp(latest) == (latest, again.next_offset - 1)
        assert known == 19
