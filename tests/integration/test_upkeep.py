"""Upkeep with real threads on a real disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.simulation.cleaner import InlineCleaner
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.disk import RealDisk
from ottla.storage.names import Stage, parse_file_name
from ottla.storage.threads import FileThreads
from ottla.storage.upkeep import Upkeep
from ottla.storage.worker import CleaningWorker
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


def test_a_stop_in_the_middle_of_everything_is_clean(tmp_path: Path) -> None:
    directories = open_directories(tmp_path)
    partitions = [(topic, 0) for topic in CONFIGS]
    logs = [directories.create(each, topic_id=None, now_ms=NOW_MS) for each in partitions]
    gone = directories.create(("events", 1), topic_id=None, now_ms=NOW_MS)
    for log in (*logs, gone):
        fill(log, 60)
    expected = contents(logs[1])
    found = directories.find(("events", 1))
    assert found is not None
    found.delete(("events", 1), tag="ab" * 16)
    threads, worker = FileThreads(2), CleaningWorker()
    slowly = Compactor(worker, map_bytes=1_000_000, bytes_per_second=1)
    upkeep = Upkeep(directories, threads, slowly, on_disk_failed=lambda *_: None, delete_delay_ms=0)
    for work in (upkeep.clean, upkeep.check_retention, upkeep.flush_due, upkeep.remove_files):
        for _ in work(LATER_MS):
            pass
    process_id = worker.process_id
    assert process_id is not None
    upkeep.finish()
    assert not upkeep.is_busy
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)
    directories.close(threads)
    threads.close()
    again = open_directories(tmp_path)
    for partition in partitions:
        directory = again.find(partition)
        assert directory is not None
        assert directory.was_clean
        log = directory.log(partition, now_ms=NOW_MS)
        stages = {parse_file_name(each).stage for each in log_files(log.folder)}
        assert stages == {Stage.PRESENT}
    assert contents(log) == expected
    assert not list(tmp_path.glob("*/*-delete"))


def log_files(folder: str) -> list[str]:
    """Those that belong to segments: their names begin with an offset."""
    return [name for name in os.listdir(folder) if name[0].isdigit()]
