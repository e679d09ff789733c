"""Partitions that go from Ottla into Kafka's log directory, and back."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from ottla.storage.checkpoints import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    LOG_STARTS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    format_offsets,
    parse_offsets,
)
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.kafka.written import Partition


def put_in(
    partitions: Iterable[Partition], directory: Path, *, recovery_point: int | None = None
) -> None:
    """Replace logs of a broker that was stopped, as if it had written these.

    Without a recovery point all of them are trusted, as after a clean stop.
    """
    high_watermarks = _offsets(directory, HIGH_WATERMARKS)
    recovery_points = _offsets(directory, RECOVERY_POINTS)
    log_starts = _offsets(directory, LOG_STARTS)
    for partition in partitions:
        folder = directory / partition.folder.name
        topic_id = (folder / PARTITION_METADATA).read_bytes()
        shutil.rmtree(folder)
        shutil.copytree(partition.folder, folder)
        (folder / PARTITION_METADATA).write_bytes(topic_id)
        key = (partition.topic, 0)
        high_watermarks[key] = recovery_points[key] = partition.log.next_offset
        if recovery_point is not None:
            recovery_points[key] = recovery_point
        if partition.log.log_start_offset:
            log_starts[key] = partition.log.log_start_offset
    (directory / HIGH_WATERMARKS).write_bytes(format_offsets(high_watermarks))
    (directory / RECOVERY_POINTS).write_bytes(format_offsets(recovery_points))
    (directory / LOG_STARTS).write_bytes(format_offsets(log_starts))


def is_clean(directory: Path) -> bool:
    return (directory / CLEAN_SHUTDOWN).exists()


def make_unclean(directory: Path) -> None:
    """As a crash before the first checkpoint leaves it, with indexes that were never trimmed."""
    (directory / CLEAN_SHUTDOWN).unlink()
    (directory / RECOVERY_POINTS).write_bytes(format_offsets({}))
    for index in directory.glob("*/*index"):
        if index.suffix in (".index", ".timeindex"):
            with index.open("ab") as file:
                file.write(bytes(240))


def copy_partition(directory: Path, topic: str, to: Path) -> None:
    """One partition and the files that all share."""
    to.mkdir()
    for file in directory.iterdir():
        if file.is_file():
            shutil.copy(file, to)
    shutil.copytree(directory / f"{topic}-0", to / f"{topic}-0")


def open_from(directory: Path, topic: str, config: LogConfig, *, now_ms: int) -> Log:
    """Partition 0 of a topic, with what the directory knows of it."""
    key = (topic, 0)
    found = Found(
        was_clean=is_clean(directory),
        recovery_point=_offsets(directory, RECOVERY_POINTS).get(key, 0),
        log_start_offset=_offsets(directory, LOG_STARTS).get(key, 0),
    )
    log = open_log(RealDisk(), str(directory / f"{topic}-0"), config, found, now_ms=now_ms)
    log.advance_high_watermark(log.next_offset)
    return log


def _offsets(directory: Path, name: str) -> dict[tuple[str, int], int]:
    return parse_offsets((directory / name).read_bytes(), name)
