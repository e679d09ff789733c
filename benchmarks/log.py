"""Appending to and reading from a new partition, beside bare `os.write`s of the same bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable

from benchmarks.records import batch_of
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log

NOW_MS = 1_700_000_000_000
# Batch size, how many, and which part of the bare loop's speed must be reached.
APPENDS = ((1_000_000, 300, 0.5), (16_384, 10_000, 0.35), (200, 200_000, 0.2))
LOCATE_US = 20.0
ROUNDS = 5


def main() -> None:
    folder = tempfile.mkdtemp(prefix="ottla-bench-")
    try:
        for size, count, must in APPENDS:
            _append(folder, size, count, must)
        _locate(folder)
        _locate_time(folder)
    finally:
        shutil.rmtree(folder)


def _append(folder: str, size: int, count: int, must: float) -> None:
    data = batch_of(size)
    bare = ours = float("inf")
    for _ in range(ROUNDS):  # in turns, so that a slow moment hits both
        bare = min(bare, _timed(lambda: _write_bare(f"{folder}/bare", data, count)))
        os.remove(f"{folder}/bare")
        ours = min(ours, _timed(lambda: _fill(f"{folder}/t-0", data, count)))
        shutil.rmtree(f"{folder}/t-0")
    ratio = bare / ours
    print(
        f"append {size:>9,} B: {count / ours:>9,.0f} a second, {count * size / ours / 1e6:>6,.0f} "
        f"MB/s, {ratio:5.2f} of bare writes, must be {must}: {'ok' if ratio >= must else 'MISSED'}"
    )


def _write_bare(path: str, data: bytes, count: int) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT)
    for _ in range(count):
        os.write(number, data)
    os.close(number)


def _fill(folder: str, data: bytes, count: int) -> Log:
    """Every append in a write of its own, as with one client that waits for each answer."""
    log = open_log(RealDisk(), folder, LogConfig(), Found(was_clean=True), now_ms=NOW_MS)
    view = memoryview(bytearray(data))
    unassigned = bytes(8)
    for _ in range(count):
        view[:8] = unassigned
        log.append(view, leader_epoch=0, now_ms=NOW_MS)
        log.commit()
    return log


def _locate(folder: str) -> None:
    log = _fill(f"{folder}/t-0", batch_of(200), 1_000_000)
    offsets = [(number * 7919) % log.next_offset for number in range(5_000)]

    def locate() -> None:
        for offset in offsets:
            log.read(offset, max_bytes=1, up_to=log.next_offset)

    took = min(_timed(locate) for _ in range(ROUNDS)) / len(offsets) * 1e6
    verdict = "ok" if took <= LOCATE_US else "MISSED"
    print(f"locate an offset among 200 B batches: {took:.1f} us, at most {LOCATE_US:g}: {verdict}")


def _locate_time(folder: str) -> None:
    """In a partition of 1 GB with a batch every millisecond."""
    config = LogConfig(segment_bytes=256 * 1024 * 1024)
    log = open_log(RealDisk(), f"{folder}/t-1", config, Found(was_clean=True), now_ms=NOW_MS)
    value = bytes(16_300)
    count = 2**30 // len(value)
    for number in range(count):
        batch = bytearray(build_batch([Record(0, NOW_MS + number, None, value)]))
        log.append(memoryview(batch), leader_epoch=0, now_ms=NOW_MS)
        log.commit()
    times = [NOW_MS + (number * 7919) % count for number in range(2_000)]

    def locate() -> None:
        for timestamp in times:
            log.find_timestamp(timestamp)

    took = min(_timed(locate) for _ in range(ROUNDS)) / len(times) * 1e6
    verdict = "ok" if took <= 10 * LOCATE_US else "MISSED"
    print(f"locate a time in 1 GB: {took:.1f} us, at most {10 * LOCATE_US:g}: {verdict}")


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
