"""Long work over many partitions, cut into slices: in between, others get their turn."""

from __future__ import annotations

import asyncio

from ottla.timing.timer import Timer

_SLICE_MS = 5


class Slices:
    """`breathe` after each partition; it waits only when a slice is over."""

    __slots__ = ("_ends_ms", "_timer")

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self._ends_ms = timer.now_ms() + _SLICE_MS

    async def breathe(self) -> None:
        if self._timer.now_ms() >= self._ends_ms:
            await asyncio.sleep(0)
            self._ends_ms = self._timer.now_ms() + _SLICE_MS
