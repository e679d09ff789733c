"""Turns the timing wheel from the event loop, whose clock never jumps."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from math import ceil

from ottla.timing.wheel import Deadline, Wheel

NEVER = sys.maxsize
# Seconds as floats miss whole milliseconds by far less than this, and the loop wakes us early by
# less; without it we could be woken for a millisecond that we do not see yet, over and over.
SLACK_MS = 0.001


class Timer:
    """All deadlines of a broker behind one call of the loop: the earliest busy bucket's."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._wheel = Wheel(self.now_ms())
        self._handle: asyncio.TimerHandle | None = None
        self._armed_ms = NEVER

    @property
    def size(self) -> int:
        return self._wheel.size

    def now_ms(self) -> int:
        """Monotonic: for durations, not for timestamps."""
        return int(self._loop.time() * 1000 + SLACK_MS)

    def now_ns(self) -> int:
        """The same, for what takes less than a millisecond."""
        return int(self._loop.time() * 1_000_000_000)

    def call_after(self, delay_ms: int, callback: Callable[[], object]) -> Deadline:
        """Calls back from the loop, never from in here, even if there is nothing to wait for."""
        now = self._loop.time() * 1000
        # Rounded up, for a wait may be longer than asked but not shorter.
        due_ms = ceil(now - SLACK_MS) + delay_ms if delay_ms > 0 else int(now)
        deadline = Deadline(due_ms, callback)
        turn_ms = self._wheel.add(deadline, now_ms=int(now + SLACK_MS))
        if turn_ms < self._armed_ms:
            self._arm(turn_ms)
        return deadline

    def close(self) -> None:
        """Nothing is called any more, not even what is set later."""
        self._disarm()
        self._armed_ms = -NEVER

    def describe(self) -> dict[str, object]:
        """For people who debug: the wheel's levels, and when it is turned next."""
        return {
            "now_ms": self.now_ms(),
            "next_turn_ms": None if self._handle is None else self._armed_ms,
            **self._wheel.describe(),
        }

    def _turn(self) -> None:
        self._disarm()
        self._wheel.turn(self.now_ms())
        try:
            while deadline := self._wheel.pop_due():
                deadline.callback()
        finally:
            # A callback that raises is our bug and goes to the loop's exception handler, as from
            # any handle. The rest are still due: the loop calls us again for them at once. So
            # the calls share one handle, and a good one pays nothing for a bad one.
            next_ms = self._wheel.next_ms()
            if next_ms is not None and next_ms < self._armed_ms:
                self._arm(next_ms)

    def _arm(self, turn_ms: int) -> None:
        self._disarm()
        self._armed_ms = turn_ms
        self._handle = self._loop.call_at(turn_ms / 1000, self._turn)

    def _disarm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle, self._armed_ms = None, NEVER
