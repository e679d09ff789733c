"""A log compacted by the real worker process, while it is appended to."""

from __future__ import annotations

import select
from pathlib import Path

from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.flushing import close
from ottla.storage.recovery import Found, open_log
from ottla.storage.worker import CleaningWorker
from tests.unit.storage.logs import NOW_MS
from tests.unit.storage.test_compactor import ORDERS, fill, read_all

CONFIG = LogConfig(
    segment_bytes=100_000, compacts=True, deletes=False, min_cleanable_dirty_ratio=0.01
)


def test_the_worker_compacts_while_the_log_grows(tmp_path: Path) -> None:
    disk = RealDisk()
    folder = f"{tmp_path}/orders-0"
    log = open_log(disk, folder, CONFIG, Found(was_clean=True), now_ms=NOW_MS)
    fill(log, 5_000, keys=50)
    before = read_all(log)
    worker = CleaningWorker()
    try:
        checkpoint: dict[tuple[str, int], int] = {}
        compactor = Compactor(worker, map_bytes=1_000_000)
        assert compactor.start({ORDERS: log}, checkpoint, now_ms=NOW_MS) == ORDERS
        latest = fill(log, 500, keys=50)
        while compactor.is_busy:
            select.select([worker], [], [], 30)
            compactor.poll()
    finally:
        worker.close()
    after = read_all(log)
    assert len(after) < len(before) / 3
    assert {key: value for _, key, value in after} == latest
    assert checkpoint[ORDERS] > 4_000
    close(log)
    again = open_log(disk, folder, CONFIG, Found(was_clean=True), now_ms=NOW_MS)
    assert read_all(again) == after
