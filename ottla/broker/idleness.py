"""How much of the last minute the event loop had nothing to do."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

_INTERVAL_S = 1.0
_LOOKS = 60


class Idleness:
    """By the processor time of the loop's thread, looked at once a second.

    To ask the clock before and after each wait for clients would cost every round of requests.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, spent_s: Callable[[], float]) -> None:
        self._loop = loop
        self._spent_s = spent_s
        self._looks: deque[tuple[float, float]] = deque(maxlen=_LOOKS)
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._looks.append((self._loop.time(), self._spent_s()))
        self._handle = self._loop.call_later(_INTERVAL_S, self.start)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()

    def share(self) -> float:
        """From 0, always busy, to 1; for the loop's thread to ask."""
        now_s, spent_s = self._loop.time(), self._spent_s()
        then_s, spent_then_s = self._looks[0] if self._looks else (now_s, spent_s)
        if now_s <= then_s:
            return 1.0
        return min(1.0, max(0.0, 1 - (spent_s - spent_then_s) / (now_s - then_s)))
