"""Wall time in a simulation: the virtual loop's, wrong by as much as one likes."""

from __future__ import annotations

from ottla.simulation.loop import VirtualTimeLoop
from ottla.timing.timer import SLACK_MS


class VirtualClock:
    """One broker's clock. Its skew may be set at any time: wall time jumps, the loop's does not."""

    def __init__(self, loop: VirtualTimeLoop, *, start_ms: int = 0, skew_ms: int = 0) -> None:
        self._loop = loop
        self._start_ms = start_ms
        self.skew_ms = skew_ms

    def now_ms(self) -> int:
        return self._start_ms + int(self._loop.time() * 1000 + SLACK_MS) + self.skew_ms
