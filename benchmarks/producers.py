"""What idempotence costs a batch: checked and appended, alone or in groups that share a write."""

from __future__ import annotations

from collections.abc import Callable
from timeit import repeat

from ottla.protocol.records.batch import BatchHeader
from ottla.storage.producers import ProducerStates

BATCHES = 100_000
TARGET_US = 3.0


def headers() -> list[BatchHeader]:
    return [
        BatchHeader(0, 100, 0, 2, 0, 0, 0, 0, 0, 7, 0, sequence, 1) for sequence in range(BATCHES)
    ]


def alone(batches: list[BatchHeader]) -> None:
    states = ProducerStates()
    for offset, header in enumerate(batches):
        states.check(header, from_client=True)
        states.append(header, base_offset=offset, max_timestamp=5)


def grouped(batches: list[BatchHeader], *, size: int) -> None:
    states = ProducerStates()
    for start in range(0, BATCHES, size):
        states.begin()
        for offset in range(start, start + size):
            header = batches[offset]
            states.check(header, from_client=True)
            states.append(header, base_offset=offset, max_timestamp=5)
        states.commit()


def measure(run: Callable[[], None]) -> float:
    return min(repeat(run, number=1, repeat=5)) / BATCHES * 1e6


def main() -> None:
    batches = headers()
    runs: dict[str, Callable[[], None]] = {
        "alone": lambda: alone(batches),
        "groups of 1": lambda: grouped(batches, size=1),
        "groups of 10": lambda: grouped(batches, size=10),
    }
    for name, run in runs.items():
        cost_us = measure(run)
        verdict = "met" if cost_us <= TARGET_US else "MISSED"
        print(f"{name:>14} {cost_us:>6.2f} us a batch  at most {TARGET_US:g}: {verdict}")


if __name__ == "__main__":
    main()
