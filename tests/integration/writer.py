"""Appends to a log until it is killed, and says after each commit where the log ends.

`python -m tests.integration.writer FOLDER` writes each offset as eight bytes to its output.
"""

from __future__ import annotations

import os
import sys

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.flushing import flush
from ottla.storage.recovery import Found, open_log

CONFIG = LogConfig(segment_bytes=20_000, index_interval_bytes=500)
PRODUCER_ID = 7
REPORT_BYTES = 8


def value_of(offset: int) -> bytes:
    return b"record %d " % offset * (1 + offset % 50)


def write(folder: str) -> None:
    log = open_log(RealDisk(), folder, CONFIG, Found(was_clean=False), now_ms=0)
    state = log.producers.get(PRODUCER_ID)
    sequence = state.last_sequence + 1 if state else 0
    while True:
        for _ in range(1 + log.next_offset % 3):
            first, count = log.next_offset, 1 + log.next_offset % 4
            records = [Record(n, first + n, None, value_of(first + n)) for n in range(count)]
            data = build_batch(
                records, producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=sequence
            )
            log.append(memoryview(bytearray(data)), leader_epoch=0, now_ms=0)
            sequence += count
        log.commit()
        os.write(1, log.next_offset.to_bytes(REPORT_BYTES, "big"))
        if log.next_offset % 50 == 0:
            flush(log)


if __name__ == "__main__":
    write(sys.argv[1])
