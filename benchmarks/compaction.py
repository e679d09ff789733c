"""How fast the worker compacts, and what appends in the main process lose meanwhile.

`python -m benchmarks.compaction 1000` takes a log of 1,000 MB; the routine run takes less.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.cleaning_job import Cleaned, CleaningFailed, CleaningJob
from ottla.storage.cleaning_plan import CleaningPlan
from ottla.storage.disk import RealDisk
from ottla.storage.offset_map import OffsetMap
from ottla.storage.retention import SegmentFacts
from ottla.storage.worker import CleaningWorker

MEGABYTE = 1_000_000
ROUTINE_MEGABYTES = 100
KEYS_PER_MEGABYTE = 1_000  # a million in the 1 GB of the target; then 1 KiB records all stay
BATCH_BYTES = 16_000
MAP_BYTES = 128 * 1024 * 1024  # log.cleaner.dedupe.buffer.size
APPEND_SHARE = 0.8
APPEND_S = 1.0


def write_log(
    path: Path, *, megabytes: int, record_bytes: int, keys_per_megabyte: int = KEYS_PER_MEGABYTE
) -> tuple[int, int]:
    """Keys in a scattered order, each written as often as the size allows; size, end offset."""
    keys = keys_per_megabyte * megabytes
    value = bytes(record_bytes - 24)
    per_batch = max(1, BATCH_BYTES // record_bytes)
    offset = 0
    with path.open("wb") as file:
        while file.tell() < megabytes * MEGABYTE:
            records = [
                # The step has no divisor in common with the number of keys, so all have their turn.
                Record(n, 1_700_000_000_000 + n, b"key-%09d" % (n * 7_368_787 % keys), value)
                for n in range(offset, offset + per_batch)
            ]
            file.write(build_batch(records))
            offset += per_batch
        return file.tell(), offset


def plan_for(size_bytes: int, end_offset: int) -> CleaningPlan:
    return CleaningPlan(
        (SegmentFacts(0, size_bytes, 1_000),), 0, end_offset, (), (), MAP_BYTES, 0, 1_000, 1 << 30,
        10 << 20, 4096,
    )  # fmt: skip


def appended_bytes(folder: Path) -> Iterator[int]:
    """Appends to a log without end; told are the bytes after each."""
    file = RealDisk().open(str(folder / "appended.log"), create=True)
    batch = bytes(BATCH_BYTES)
    total = 0
    while True:
        file.append([batch])
        total += len(batch)
        if file.size() > 256 * MEGABYTE:
            file.truncate(0)
        yield total


def append_rate(appends: Iterator[int], *, seconds: float) -> float:
    """MB/s of appends in this process."""
    first = next(appends)
    start = time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        last = next(appends)
    return (last - first) / passed / MEGABYTE


def compact(worker: CleaningWorker, job: CleaningJob) -> tuple[float, Cleaned]:
    """Seconds in the worker, which must be running, and the last answer."""
    start = time.perf_counter()
    worker.submit(job)
    while True:
        answer = worker.receive(wait_s=None)
        if isinstance(answer, CleaningFailed):
            sys.exit(f"compaction failed: {answer}")
        if isinstance(answer, Cleaned) and answer.group.is_last:
            return time.perf_counter() - start, answer


def measure(
    worker: CleaningWorker,
    *,
    megabytes: int,
    record_bytes: int,
    target: float,
    keys_per_megabyte: int = KEYS_PER_MEGABYTE,
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size_bytes, end_offset = write_log(
            folder / f"{0:020d}.log",
            megabytes=megabytes,
            record_bytes=record_bytes,
            keys_per_megabyte=keys_per_megabyte,
        )
        job = CleaningJob(1, name, plan_for(size_bytes, end_offset), now_ms=5_000)
        seconds, answer = compact(worker, job)
        rate = size_bytes / seconds / MEGABYTE
        verdict = "met" if rate >= target else "MISSED"
        kept = answer.group.records_kept
        print(
            f"{record_bytes:>6} B {megabytes:>6} MB {kept:>9,} of {end_offset:>10,} kept "
            f"{rate:>7.1f} MB/s  at least {target:g}: {verdict}"
        )


def measure_appends(worker: CleaningWorker, *, megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size_bytes, end_offset = write_log(
            folder / f"{0:020d}.log", megabytes=megabytes, record_bytes=1_024
        )
        appends = appended_bytes(folder)
        alone = append_rate(appends, seconds=APPEND_S)
        worker.submit(CleaningJob(2, name, plan_for(size_bytes, end_offset), now_ms=5_000))
        rates = []
        while worker.is_busy:
            rates.append(append_rate(appends, seconds=0.1))
            while worker.receive() is not None:
                pass
        beside = sum(rates) / len(rates)
        # Before and after: other work on the machine should not count for or against either.
        alone = (alone + append_rate(appends, seconds=APPEND_S)) / 2
        verdict = "met" if beside >= APPEND_SHARE * alone else "MISSED"
        print(
            f"appends of 16 KB: {alone:.0f} MB/s alone, {beside:.0f} beside compaction, "
            f"{beside / alone:.2f}  at least {APPEND_SHARE:g}: {verdict}"
        )


def main(megabytes: int = ROUTINE_MEGABYTES) -> None:
    worker = CleaningWorker()
    try:
        with tempfile.TemporaryDirectory() as name:  # so that no figure holds its start
            (Path(name) / f"{0:020d}.log").touch()
            compact(worker, CleaningJob(0, name, plan_for(0, 1)._replace(map_bytes=1), now_ms=0))
        measure(worker, megabytes=megabytes, record_bytes=1_024, target=60)
        measure(worker, megabytes=megabytes, record_bytes=1_024, target=60, keys_per_megabyte=300)
        measure(worker, megabytes=megabytes, record_bytes=100, target=10)
        measure_appends(worker, megabytes=megabytes)
    finally:
        worker.close()
    offset_map = OffsetMap(MAP_BYTES)
    print(f"a key in the offset map: {offset_map.memory_bytes / offset_map.capacity:.1f} bytes")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
