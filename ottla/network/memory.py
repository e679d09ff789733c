"""How much memory requests may take that are being received: `queued.max.request.bytes`."""

from __future__ import annotations

from collections.abc import Callable


class RequestMemory:
    """Counts what large receive buffers take. Who is refused is told when some came back."""

    def __init__(self, max_bytes: int = -1) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        self.is_short = False  # somebody waits for some
        self._refused: list[Callable[[], None]] = []

    def take(self, count: int) -> bool:
        # The first may always: a single request beyond the limit must get through some day.
        if 0 <= self.max_bytes < self.used_bytes + count and self.used_bytes:
            return False
        self.used_bytes += count
        return True

    def give(self, count: int) -> None:
        self.used_bytes -= count
        if count and self._refused:
            refused, self._refused, self.is_short = self._refused, [], False
            for callback in refused:
                callback()

    def wait(self, callback: Callable[[], None]) -> None:
        """Call back once some memory came free."""
        self._refused.append(callback)
        self.is_short = True
