"""Long work in short slices: in between, the loop serves its clients."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from ottla.timing.timer import Timer

_SLICE_MS = 4

Then = Callable[[], None]


class Slices:
    """One slice in each round of the loop, whoever's it is; first come, first done."""

    def __init__(self, timer: Timer, call_soon: Callable[[Callable[[], None]], object]) -> None:
        self._timer = timer
        self._call_soon = call_soon
        self._waiting: deque[tuple[Iterator[None], Then]] = deque()

    def run(self, steps: Iterator[None], then: Then) -> None:
        """Takes the steps one by one, none of them from in here; `then` follows the last."""
        self._waiting.append((steps, then))
        if len(self._waiting) == 1:
            self._call_soon(self._slice)

    def _slice(self) -> None:
        ends_ms = self._timer.now_ms() + _SLICE_MS
        steps, then = self._waiting[0]
        for _ in steps:
            if self._timer.now_ms() >= ends_ms:
                self._call_soon(self._slice)
                return
        self._waiting.popleft()
        if self._waiting:
            self._call_soon(self._slice)
        then()
