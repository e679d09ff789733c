"""How fast an unclean segment is checked, beside reading it and summing it up in large pieces.

OTTLA_TEST_PROFILE=soak takes a segment of 1 GB instead of 256 MB.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from timeit import timeit

from crc32c import crc32c

from ottla.protocol.records.batch import build_batch, patch_batch, read_header
from ottla.protocol.records.record import Record
from ottla.storage.check import check_segment
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.segment import Segment

SIZE_BYTES = (1024 if os.environ.get("OTTLA_TEST_PROFILE") == "soak" else 256) * 1024 * 1024
AT_LEAST = {16 * 1024: 500, 200: 60}  # MB/s by the size of a batch
PIECE_BYTES = 4 * 1024 * 1024
REPEATS = 3


def write_segment(path: str, batch_bytes: int) -> int:
    """Batches of one size with the offsets they would have; returns how many bytes they are."""
    overhead = len(build_batch([Record(0, 0, None, b"")]))
    value = bytes(batch_bytes - overhead)
    while len(build_batch([Record(0, 0, None, value)])) > batch_bytes:
        value = value[1:]
    batch = bytearray(build_batch([Record(0, 1_700_000_000_000, None, value)]))
    header = read_header(batch)
    count = SIZE_BYTES // len(batch)
    with open(path, "wb", buffering=PIECE_BYTES) as file:
        for offset in range(count):
            patch_batch(memoryview(batch), header, base_offset=offset, leader_epoch=0)
            file.write(batch)
    return count * len(batch)


def read_and_sum(path: str) -> None:
    """What no check can do without."""
    buffer = bytearray(PIECE_BYTES)
    with open(path, "rb", buffering=0) as file:
        while length := file.readinto(buffer):
            crc32c(memoryview(buffer)[:length])


def check(folder: str) -> None:
    segment = Segment(RealDisk(), folder, 0, LogConfig())
    wrong = check_segment(segment, next_base=None, epochs=LeaderEpochs())
    assert wrong is None, wrong
    assert segment.size_bytes == segment.log.size()
    segment.close()


def fastest(run: Callable[[], None], size_bytes: int) -> float:
    """Megabytes a second."""
    return size_bytes / min(timeit(run, number=1) for _ in range(REPEATS)) / 1e6


def main() -> None:
    print(f"{'batches':>10} {'read, crc32c':>15} {'checked':>12} {'ratio':>6}")
    for batch_bytes, wanted in AT_LEAST.items():
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/{0:020d}.log"
            size_bytes = write_segment(path, batch_bytes)
            bare = fastest(lambda path=path: read_and_sum(path), size_bytes)  # type: ignore[misc]
            ours = fastest(lambda folder=folder: check(folder), size_bytes)  # type: ignore[misc]
            verdict = "met" if ours >= wanted else "MISSED"
            line = f"{batch_bytes:>8} B {bare:>10.0f} MB/s {ours:>7.0f} MB/s {ours / bare:>6.2f}"
            print(f"{line}  at least {wanted}: {verdict}")


if __name__ == "__main__":
    main()
