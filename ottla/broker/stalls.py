"""How long the event loop was kept from its work: the longest time it came late to a timer."""

from __future__ import annotations

import asyncio
import logging

from ottla.metrics import TIMES_MS, Histogram

_logger = logging.getLogger(__name__)
_INTERVAL_S = 0.05
_LONG_MS = 1000


class Stalls:
    """Looks at the loop's clock twenty times a second."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.longest_ms = 0.0
        self.times_ms = Histogram(TIMES_MS)
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        due = self._loop.time() + _INTERVAL_S
        self._handle = self._loop.call_at(due, self._look, due)

    def _look(self, due: float) -> None:
        stall_ms = (self._loop.time() - due) * 1000
        self.longest_ms = max(self.longest_ms, stall_ms)
        self.times_ms.observe(stall_ms)
        if stall_ms > _LONG_MS:
            _logger.warning("nothing was served for %d ms: the disk or the machine", stall_ms)
        self.start()

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
