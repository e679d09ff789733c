"""Upkeep with real threads on a real disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ottla.simulation.cleaner import InlineCleaner
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.disk import RealDisk
from ottla.storage.threads import FileThreads
from ottla.storage.upkeep import Upkeep
from tests.unit.storage.logs import NOW_MS, append, contents
from tests.unit.storage.test_compactor import fill

COUNT = 20
LATER_MS = NOW_MS + 1_000_000
CONFIGS = {
    "events": LogConfig(segment_bytes=1000, retention_ms=1000, file_delete_delay_ms=0),
    "tables": LogConfig(
        segment_bytes=1000, compacts=True, deletes=False, min_cleanable_dirty_ratio=0.01
    ),
}


def open_directories(tmp_path: Path) -> LogDirectories:
    return LogDirectories.open(
        RealDisk(),
        [f"{tmp_path}/a", f"{tmp_path}/b"],
        CONFIGS.__getitem__,
        broker_id=1,
        cluster_id="here",
        now_ms=NOW_MS,
    )


def test_logs_grow_while_all_is_seen_to(tmp_path: Path) -> None:
    directories = open_directories(tmp_path)
    partitions = [(topic, number) for topic in CONFIGS for number in range(COUNT)]
    logs = [directories.create(each, topic_id=None, now_ms=NOW_MS) for each in partitions]
    threads = FileThreads(2)
    failed: list[str] = []
    upkeep = Upkeep(
        directories,
        threads,
        Compactor(InlineCleaner(RealDisk()), map_bytes=1_000_000),
        on_disk_failed=lambda path, error: failed.append(path),
        delete_delay_ms=0,
    )

    def run(slices: Iterator[None]) -> None:
        """Something is appended between any two slices."""
        for number, _ in enumerate(slices):
            log = logs[number % COUNT]
            append(log, b"x" * 100, timestamp=NOW_MS)
            log.advance_high_watermark(log.next_offset)

    for _ in range(3):
        for log in logs[COUNT:]:
            fill(log, 20)
        run(upkeep.check_retention(LATER_MS))
        run(upkeep.flush_due(LATER_MS))
        run(upkeep.save_checkpoints())
        run(upkeep.save_high_watermarks())
        run(upkeep.clean(LATER_MS))
        run(upkeep.poll(LATER_MS))
        run(upkeep.remove_files(LATER_MS))
    upkeep.finish()
    expected = [(log.log_start_offset, contents(log)) for log in logs]
    assert not failed
    assert any(start for start, _ in expected)
    directories.close(threads)
    threads.close()
    again = open_directories(tmp_path)
    for partition, (start, values) in zip(partitions, expected, strict=True):
        directory = again.find(partition)
        assert directory is not None
        log = directory.log(partition, now_ms=NOW_MS)
        assert (log.log_start_offset, contents(log)) == (start, values)
