"""Logs on a simulated disk, and batches to put into them."""

from __future__ import annotations

import random

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log

FOLDER = "/data/orders-0"
NOW_MS = 1_700_000_000_000


def new_log(config: LogConfig | None = None, disk: SimulatedDisk | None = None) -> Log:
    disk = disk or SimulatedDisk(random.Random(0))
    disk.make_folder("/data")
    disk.sync_folder("/")
    log = open_log(disk, FOLDER, config or LogConfig(), Found(was_clean=True), now_ms=NOW_MS)
    disk.sync_folder("/data")  # as a directory does
    return log


def batch(
    *values: bytes,
    timestamp: int = NOW_MS,
    key: bytes | None = None,
    codec: Codec = Codec.NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
) -> memoryview:
    """A batch as a producer sends it: offsets from 0, writable."""
    records = [Record(i, timestamp + i, key, value) for i, value in enumerate(values)]
    return memoryview(
        bytearray(
            build_batch(
                records,
                codec=codec,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                base_sequence=base_sequence,
                is_transactional=is_transactional,
            )
        )
    )


def append(log: Log, *values: bytes, timestamp: int = NOW_MS) -> int:
    """One batch, written; returns its first offset."""
    appended = log.append(batch(*values, timestamp=timestamp), leader_epoch=0, now_ms=NOW_MS)
    log.commit()
    return appended.first_offset


def contents(log: Log) -> list[tuple[int, bytes | None]]:
    """(offset, value) of everything a consumer would get, read from the log's start."""
    found: list[tuple[int, bytes | None]] = []
    offset = log.log_start_offset
    while (piece := log.read(offset, max_bytes=4096, up_to=log.next_offset)) is not None:
        for each in read_batches(piece.read()):
            found += [(r.offset, r.value) for r in each.records() if r.offset >= offset]
            offset = max(offset, each.last_offset + 1)
    return found
