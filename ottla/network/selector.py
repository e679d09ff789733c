"""An event loop that waits where the clients are.

asyncio asks its selector what is ready, and hears of clients through it: two questions to the
kernel and a callback for every round of theirs. Here it is the other way round: the loop waits in
the poller of the clients, who are served at once, and the loop's own selector is one of the
descriptors in it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import selectors
from collections.abc import Callable

from ottla.network.poller import MOST_EVENTS, READ, Events, Poller

_logger = logging.getLogger(__name__)


class ServingSelector(selectors.DefaultSelector):
    """As any selector, until it is told whom to `serve`."""

    _poller: Poller | None = None
    _on_ready: Callable[[Events], None]

    def serve(self, poller: Poller, on_ready: Callable[[Events], None]) -> None:
        self._poller, self._on_ready = poller, on_ready
        poller.register(self.fileno(), READ)

    def leave(self) -> None:
        assert self._poller is not None
        self._poller.unregister(self.fileno())
        self._poller = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        poller = self._poller
        if poller is None:
            return super().select(timeout)
        events = poller.poll(_rounded_up(timeout), MOST_EVENTS)
        if not events:
            return []
        try:
            self._on_ready(events)
        except Exception:
            # A bug of ours; from a callback it would go to the loop, which goes on as we do.
            _logger.exception("a round of requests failed")
        return super().select(0) if (self.fileno(), READ) in events else []


def _rounded_up(timeout: float | None) -> float:
    """To milliseconds, which is what the kernel counts: timers are not to be woken early."""
    if timeout is None:
        return -1
    return math.ceil(timeout * 1000) / 1000 if timeout > 0 else 0


def new_event_loop(selector: ServingSelector) -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(selector)
