"""Full collections wait until nobody asks for anything: the loop stands still for their time.

After each, what was freed since goes back to the system. The young generations are collected as
ever: they are small.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

from ottla.storage.disk import give_back_memory

_INTERVAL_S = 5.0
_LONGEST_WAIT = 120  # intervals: after ten minutes without a pause it is done all the same
_NEVER = 0x7FFF_FFFF


def _collect() -> None:
    gc.collect()
    give_back_memory()


class GarbageRest:
    """In force from `start` to `stop`; of the whole process, so only for one that is a broker's."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        request_count: Callable[[], int],
        collect: Callable[[], object] = _collect,
    ) -> None:
        self._loop = loop
        self._request_count = request_count
        self._collect = collect
        self._seen = 0
        self._waited = 0
        self._is_clean = False
        self._thresholds = gc.get_threshold()
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        young, middle, _ = self._thresholds
        gc.set_threshold(young, middle, _NEVER)
        self._handle = self._loop.call_later(_INTERVAL_S, self._look)

    def _look(self) -> None:
        count = self._request_count()
        is_quiet, self._seen = count == self._seen, count
        self._is_clean = self._is_clean and is_quiet
        self._waited += 1
        if not self._is_clean and (is_quiet or self._waited >= _LONGEST_WAIT):
            self._collect()
            self._waited = 0
            self._is_clean = True
        self._handle = self._loop.call_later(_INTERVAL_S, self._look)

    def stop(self) -> None:
        gc.set_threshold(*self._thresholds)
        if self._handle is not None:
            self._handle.cancel()
