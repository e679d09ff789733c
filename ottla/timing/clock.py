"""The machine's time. Nothing else reads it: whoever needs the time is given it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time, for timestamps. What waits asks the Timer, whose time never jumps."""

    def now_ms(self) -> int: ...


class SystemClock:
    """The time of this machine, which can jump when somebody sets it."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class Stopwatch:
    """How long it is since it was made, whatever happens to the machine's clock."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def elapsed_s(self) -> float:
        return time.monotonic() - self._began_s


class SkewedClock:
    """Another clock, set forward or back by whoever tests what depends on the time."""

    def __init__(self, clock: Clock) -> None:
        self.skew_ms = 0
        self._clock = clock

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.skew_ms


def thread_spent_s() -> float:
    """The processor time that the thread which asks has used."""
    return time.thread_time()
