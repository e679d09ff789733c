"""How much memory requests may take that are being received: `queued.max.request.bytes`."""

from __future__ import annotations

from collections.abc import Callable, Hashable


class RequestMemory:
    """Counts what large receive buffers take. Who is refused is told when some came back."""

    def __init__(self, max_bytes: int = -1) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        self.is_short = False  # somebody waits for some
        self._holders: dict[Hashable, None] = {}
        self._waiting: dict[Hashable, Callable[[], None]] = {}

    def take(self, owner: Hashable, count: int, *, is_needed: bool) -> bool:
        """`is_needed` by a request that has begun, which cannot give back before it is whole."""
        # The first may always: a single request beyond the limit must get through some day.
        is_too_much = 0 <= self.max_bytes < self.used_bytes + count and self.used_bytes
        if is_too_much and not (is_needed and self._is_stuck_without(owner)):
            return False
        self.used_bytes += count
        self._holders[owner] = None
        return True

    def _is_stuck_without(self, owner: Hashable) -> bool:
        """All who have some would wait with it for each other: it goes on, beyond the limit."""
        others_wait = all(each is owner or each in self._waiting for each in self._holders)
        return owner in self._holders and others_wait

    def give(self, owner: Hashable, count: int) -> None:
        """All that it has."""
        self.used_bytes -= count
        self._holders.pop(owner, None)
        if count and self._waiting:
            waiting, self._waiting, self.is_short = self._waiting, {}, False
            for callback in waiting.values():
                callback()

    def wait(self, owner: Hashable, callback: Callable[[], None]) -> None:
        """Call back once some memory came free."""
        self._waiting[owner] = callback
        self.is_short = True

    def leave(self, owner: Hashable, count: int) -> None:
        """For ever, with all that it has."""
        self._waiting.pop(owner, None)
        self.is_short = bool(self._waiting)
        self.give(owner, count)
