"""What an append through the disk port costs above a bare `os.write` of the same bytes."""

from __future__ import annotations

import os
import tempfile
import timeit

from ottla.storage.disk import RealDisk

REPEATS = 9
MOST_OVERHEAD_US = 0.5  # of a small batch; beside a large one it is noise


def measure(folder: str, size_bytes: int, *, number: int) -> tuple[float, float]:
    """Microseconds of a bare write and of an append, the fastest of many runs, by turns."""
    data = bytes(size_bytes)
    pieces = [data]
    bare = os.open(f"{folder}/bare", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    file = RealDisk().open(f"{folder}/ours", create=True)
    bare_us, ours_us = [], []
    for _ in range(REPEATS):
        os.ftruncate(bare, 0)
        bare_us.append(timeit.timeit(lambda: os.write(bare, data), number=number))
        file.truncate(0)
        ours_us.append(timeit.timeit(lambda: file.append(pieces), number=number))
    os.close(bare)
    file.close()
    return min(bare_us) / number * 1e6, min(ours_us) / number * 1e6


def main() -> None:
    print(f"{'append':>10} {'write':>11} {'port':>11} {'above':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for size_bytes, number in ((200, 20_000), (16_384, 2_000), (1_000_000, 50)):
            bare_us, ours_us = measure(folder, size_bytes, number=number)
            line = f"{size_bytes:>8} B {bare_us:>8.2f} us {ours_us:>8.2f} us"
            above_us = ours_us - bare_us
            verdict = ""
            if size_bytes == 200:
                met = "met" if above_us <= MOST_OVERHEAD_US else "MISSED"
                verdict = f"  at most {MOST_OVERHEAD_US:g} us: {met}"
            print(f"{line} {above_us:>7.2f} us{verdict}")


if __name__ == "__main__":
    main()
