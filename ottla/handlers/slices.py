"""Long work over many partitions, cut into slices: in between, others get their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from ottla.timing.slices import SLICE_MS
from ottla.timing.timer import Timer

T = TypeVar("T")


class Slices:
    """`breathe` after each partition; it waits only when a slice is over."""

    __slots__ = ("_ends_ms", "_timer")

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self._ends_ms = timer.now_ms() + SLICE_MS

    async def breathe(self) -> None:
        if self._timer.now_ms() >= self._ends_ms:
            await asyncio.sleep(0)
            self._ends_ms = self._timer.now_ms() + SLICE_MS


def at_once_or_later(steps: Generator[None, None, T], timer: Timer) -> T | Coroutine[Any, Any, T]:
    """What the steps lead to, if one slice is enough for them; else whoever awaits it gets it."""
    try:
        _take_slice(steps, timer)
    except StopIteration as done:
        result: T = done.value
        return result
    return _later(steps, timer)


async def _later(steps: Generator[None, None, T], timer: Timer) -> T:
    while True:
        await asyncio.sleep(0)
        try:
            _take_slice(steps, timer)
        except StopIteration as done:
            result: T = done.value
            return result


def _take_slice(steps: Generator[None, None, object], timer: Timer) -> None:
    ends_ms = timer.now_ms() + SLICE_MS
    next(steps)
    while timer.now_ms() < ends_ms:
        next(steps)
