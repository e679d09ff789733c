"""What was sent or read how fast, in the lines of Kafka's performance tools."""

from __future__ import annotations

from hashlib import shake_256
from typing import NamedTuple

MIB = 1024 * 1024
WINDOW_S = 5.0
_PERCENTILES = ((0.5, "50th"), (0.95, "95th"), (0.99, "99th"), (0.999, "99.9th"))
_LETTERS = bytes(65 + number % 26 for number in range(256))
_DIFFERENT_PAYLOADS = 64


def payloads(size_bytes: int) -> list[bytes]:
    """Some of A to Z that look random, and are the same in every run."""
    pool = shake_256(b"ottla").digest(size_bytes + _DIFFERENT_PAYLOADS).translate(_LETTERS)
    return [pool[start : start + size_bytes] for start in range(_DIFFERENT_PAYLOADS)]


class SendStatistics:
    """Latencies of what was acknowledged; in a window of five seconds, and in all."""

    def __init__(self, record_bytes: int) -> None:
        self.latencies_ms: list[float] = []
        self._record_bytes = record_bytes
        self._window_first = 0
        self._window_began_s = 0.0

    def add(self, latency_ms: float) -> None:
        self.latencies_ms.append(latency_ms)

    def window(self, elapsed_s: float) -> str | None:
        """The line of a window that is over."""
        took_s = elapsed_s - self._window_began_s
        if took_s < WINDOW_S or len(self.latencies_ms) == self._window_first:
            return None
        latencies = self.latencies_ms[self._window_first :]
        self._window_first, self._window_began_s = len(self.latencies_ms), elapsed_s
        return (
            f"{len(latencies)} records sent, {len(latencies) / took_s:.1f} records/sec "
            f"({self._mib(len(latencies)) / took_s:.2f} MB/sec), "
            f"{sum(latencies) / len(latencies):.1f} ms avg latency, "
            f"{max(latencies):.1f} ms max latency."
        )

    def total(self, elapsed_s: float) -> dict[str, float]:
        count, ordered = len(self.latencies_ms), sorted(self.latencies_ms)
        told = {
            "records": count,
            "records_per_s": count / elapsed_s,
            "mib_per_s": self._mib(count) / elapsed_s,
            "latency_ms_avg": sum(ordered) / count if count else 0.0,
            "latency_ms_max": ordered[-1] if count else 0.0,
        }
        for part, name in _PERCENTILES:
            told[f"latency_ms_{name}"] = ordered[int(part * count)] if count else 0.0
        return told

    def _mib(self, count: int) -> float:
        return count * self._record_bytes / MIB


def total_line(told: dict[str, float]) -> str:
    percentiles = ", ".join(
        f"{told[f'latency_ms_{name}']:.0f} ms {name}" for _, name in _PERCENTILES
    )
    return (
        f"{told['records']:.0f} records sent, {told['records_per_s']:f} records/sec "
        f"({told['mib_per_s']:.2f} MB/sec), {told['latency_ms_avg']:.2f} ms avg latency, "
        f"{told['latency_ms_max']:.2f} ms max latency, {percentiles}."
    )


# What Kafka's consumer tool prints after the times.
COLUMNS = (
    "data.consumed.in.MB", "MB.sec", "data.consumed.in.nMsg", "nMsg.sec",
    "rebalance.time.ms", "fetch.time.ms", "fetch.MB.sec", "fetch.nMsg.sec",
)  # fmt: skip


class Reading(NamedTuple):
    """What was read by then. `rebalance_ms` is how long it waited for its partitions."""

    size_bytes: int = 0
    records: int = 0
    elapsed_ms: int = 0
    rebalance_ms: int = 0

    def since(self, earlier: Reading) -> Reading:
        return Reading(*(now - then for now, then in zip(self, earlier, strict=True)))

    def to_json(self) -> dict[str, float]:
        """By the names of the columns."""
        mib, whole_s = self.size_bytes / MIB, max(self.elapsed_ms, 1) / 1000
        fetch_ms = max(0, self.elapsed_ms - self.rebalance_ms)
        fetch_s = max(fetch_ms, 1) / 1000
        values = (
            mib, mib / whole_s, self.records, self.records / whole_s,
            self.rebalance_ms, fetch_ms, mib / fetch_s, self.records / fetch_s,
        )  # fmt: skip
        return dict(zip(COLUMNS, values, strict=True))

    def cells(self) -> list[str]:
        return [
            str(value) if isinstance(value, int) else f"{value:.4f}"
            for value in self.to_json().values()
        ]
