"""A log directory with 10,000 clean partitions, opened with few descriptors, beside a bare stat."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable

from benchmarks.records import batch_of
from ottla.storage.config import LogConfig
from ottla.storage.directory import LogDirectory
from ottla.storage.disk import RealDisk
from ottla.storage.threads import FileThreads

PARTITIONS = 10_000
DESCRIPTORS = 1_024
MUST = 3.0
MUST_MB = 250
NOW_MS = 1_700_000_000_000


def main() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    path = tempfile.mkdtemp(prefix="ottla-bench-")
    try:
        _fill(path)
        before_mb = _resident_mb()
        bare = _timed(lambda: _stat_all(path))
        opened = _timed(lambda: _open(path).close(FileThreads(2)))
        _report("opened and closed", opened, bare, MUST)
        directory = _open(path)
        used = _timed(lambda: [directory.log(p, now_ms=NOW_MS) for p in directory.folders])
        _report("and every log used once", used, bare, None)
        grown_mb = _resident_mb() - before_mb
        verdict = "ok" if grown_mb <= MUST_MB else "MISSED"
        print(f"memory for all of them in use: {grown_mb:.0f} MB, at most {MUST_MB}: {verdict}")
    finally:
        shutil.rmtree(path)


def _open(path: str) -> LogDirectory:
    return LogDirectory.open(
        RealDisk(), path, lambda topic: LogConfig(), broker_id=0, cluster_id=None, now_ms=NOW_MS
    )


def _fill(path: str) -> None:
    """One partition written by the log itself; the others are copies of its folder."""
    directory = _open(path)
    log = directory.create(("t", 0), topic_id=bytes(range(16)), now_ms=NOW_MS)
    for _ in range(3):
        log.append(memoryview(bytearray(batch_of(200))), leader_epoch=0, now_ms=NOW_MS)
    directory.close(FileThreads(2))
    for number in range(1, PARTITIONS):
        shutil.copytree(f"{path}/t-0", f"{path}/t-{number}")
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        lines = "".join(f"t {number} 3\n" for number in range(PARTITIONS))
        with open(f"{path}/{name}", "w", encoding="utf-8") as file:
            file.write(f"0\n{PARTITIONS}\n{lines}")


def _stat_all(path: str) -> None:
    for folder in os.listdir(path):
        if folder.startswith("t-"):
            for name in os.listdir(f"{path}/{folder}"):
                os.stat(f"{path}/{folder}/{name}")


def _report(what: str, took: float, bare: float, must: float | None) -> None:
    verdict = (
        "" if must is None else f", at most {must:g}: {'ok' if took <= must * bare else 'MISSED'}"
    )
    print(f"{PARTITIONS:,} partitions {what}: {took:.2f} s, {took / bare:.1f} bare stats{verdict}")


def _resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
