"""The file threads of a simulated machine: at once, as `Inline` does it, or as late as wanted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from ottla.storage.threads import Inline

T = TypeVar("T")


class _Late(Future[T]):
    """Whoever blocks for it finds it done: time does not pass while the loop stands still."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__()
        self.timer: asyncio.TimerHandle | None = None
        self._work = work

    def do(self) -> None:
        if self.done() or self.timer is None:
            return
        self.timer.cancel()
        done = Inline().submit(self._work)
        error = done.exception()
        if error is None:
            self.set_result(done.result())
        else:
            self.set_exception(error)

    def result(self, timeout: float | None = None) -> T:
        self.do()
        return super().result(timeout)


class SlowThreads(Inline):
    """`delay_ms`, the least and the most, may change while a broker runs; at first it is none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, chance: random.Random) -> None:
        self.delay_ms = (0, 0)
        self._loop = loop
        self._chance = chance
        self._late: dict[_Late[Any], None] = {}

    def submit(self, work: Callable[[], T]) -> Future[T]:
        if self.delay_ms == (0, 0):
            return super().submit(work)
        late = _Late(work)
        self._late[late] = None
        late.add_done_callback(lambda _: self._late.pop(late, None))
        late.timer = self._loop.call_later(self._chance.randint(*self.delay_ms) / 1000, late.do)
        return late

    def close(self) -> None:
        for late in list(self._late):
            late.do()

    def forget(self) -> None:
        """The process is gone, and its threads with it."""
        for late in self._late:
            assert late.timer is not None
            late.timer.cancel()
        self._late.clear()
