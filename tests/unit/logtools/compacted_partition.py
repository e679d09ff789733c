"""A partition's folder before and after our own cleaner was at work on a copy of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import NamedTuple

from ottla.logtools.compaction_report import MAP_BYTES, CompactionReport
from ottla.logtools.explained_record import ExplainedRecord
from ottla.logtools.partition_state import read_state
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import CLEANED_UP_TO, format_offsets, parse_offsets
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.files import Disk
from ottla.storage.flushing import close
from ottla.storage.housekeeping import forget_idle_producers
from ottla.storage.names import FileName, Kind
from ottla.storage.recovery import Found, open_log
from tests.unit.storage.compacted_log import WrittenLog, parse

Files = Mapping[str, bytes]

DIRECTORY = "/data"
FOLDER = f"{DIRECTORY}/orders-0"
ORDERS = ("orders", 0)
CHECKPOINT = f"{DIRECTORY}/{CLEANED_UP_TO}"
EAGER = LogConfig(compacts=True, deletes=False, min_cleanable_dirty_ratio=0.0)


class Compacted(NamedTuple):
    """What the cleaner left; `was_compacted` is False if it found nothing worth the work."""

    was_compacted: bool
    offsets: list[int]
    size_bytes: int
    files: dict[str, bytes]


def written(log: WrittenLog, *, segments: Sequence[int], folder: str = FOLDER) -> dict[str, bytes]:
    """The files of a log whose segments begin with the batches of these numbers, and with 0."""
    starts = sorted({0, *(n for n in segments if n < len(log.batches))})
    files: dict[str, bytes] = {}
    for start, end in zip(starts, [*starts[1:], len(log.batches)], strict=True):
        batches = log.batches[start:end]
        found = parse(batches)
        base, last = (found[0].base_offset, found[-1].last_offset) if found else (0, -1)
        files[f"{folder}/{FileName(base, Kind.LOG)}"] = b"".join(batches)
        entries = [entry.encode() for entry in log.aborted if base <= entry.last_offset <= last]
        if entries:
            files[f"{folder}/{FileName(base, Kind.TRANSACTION_INDEX)}"] = b"".join(entries)
    return files


def disk_of(files: Files) -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    for path, content in files.items():
        disk.make_folder(path.rpartition("/")[0])
        disk.replace(path, content)
    return disk


def files_on(disk: Disk, folder: str) -> Iterator[tuple[str, bytes]]:
    for name in disk.names(folder):
        path = f"{folder}/{name}"
        status = disk.status(path)
        assert status is not None
        if status.is_folder:
            yield from files_on(disk, path)
        else:
            yield path, disk.read(path)


def fingerprint(disk: Disk, folder: str) -> str:
    return sha256(repr(list(files_on(disk, folder))).encode()).hexdigest()


def report_on(
    disk: Disk,
    folder: str = FOLDER,
    *,
    config: LogConfig = EAGER,
    now_ms: int = 0,
    map_bytes: int = MAP_BYTES,
) -> tuple[CompactionReport, list[ExplainedRecord]]:
    state = read_state(disk, folder, config, now_ms=now_ms)
    report = CompactionReport(disk, state, now_ms=now_ms, map_bytes=map_bytes)
    return report, list(report.records())


def compact(
    files: Files,
    folder: str = FOLDER,
    *,
    config: LogConfig = EAGER,
    now_ms: int = 0,
    map_bytes: int = MAP_BYTES,
) -> Compacted:
    """As a broker that starts on these files would."""
    disk = disk_of(files)
    checkpoint = dict(parse_offsets(files[CHECKPOINT], "")) if CHECKPOINT in files else {}
    log = open_log(disk, folder, config, Found(was_clean=True), now_ms=now_ms)
    log.advance_high_watermark(log.next_offset)
    forget_idle_producers(log, now_ms=now_ms)
    compactor = Compactor(InlineCleaner(disk), map_bytes=map_bytes)
    was_compacted = compactor.start({ORDERS: log}, checkpoint, now_ms=now_ms) is not None
    for path in compactor.poll():
        disk.remove(path)
    close(log)
    if checkpoint:
        disk.replace(CHECKPOINT, format_offsets(checkpoint))
    after = dict(files_on(disk, DIRECTORY))
    logs = [after[path] for path in sorted(after) if path.endswith(".log")]
    offsets = [r.offset for data in logs for batch in read_batches(data) for r in batch.records()]
    return Compacted(was_compacted, offsets, sum(map(len, logs)), after)
