"""The file threads of a simulated machine: at once, as `Inline` does it, or as late as wanted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from ottla.storage.threads import Inline

T = TypeVar("T")


class SlowThreads(Inline):
    """`delay_ms`, the least and the most, may change while a broker runs; at first it is none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, chance: random.Random) -> None:
        self.delay_ms = (0, 0)
        self._loop = loop
        self._chance = chance
        self._delayed: dict[Callable[[], None], asyncio.TimerHandle] = {}

    def submit(self, work: Callable[[], T]) -> Future[T]:
        if self.delay_ms == (0, 0):
            return super().submit(work)
        future: Future[T] = Future()
        late = partial(self._run, work, future)
        delay_s = self._chance.randint(*self.delay_ms) / 1000
        self._delayed[late] = self._loop.call_later(delay_s, self._due, late)
        return future

    def _due(self, late: Callable[[], None]) -> None:
        del self._delayed[late]
        late()

    def _run(self, work: Callable[[], Any], future: Future[Any]) -> None:
        done = super().submit(work)
        error = done.exception()
        if error is None:
            future.set_result(done.result())
        else:
            future.set_exception(error)

    def close(self) -> None:
        for late, timer in list(self._delayed.items()):
            timer.cancel()
            self._due(late)

    def forget(self) -> None:
        """The process is gone, and its threads with it."""
        for timer in self._delayed.values():
            timer.cancel()
        self._delayed.clear()
