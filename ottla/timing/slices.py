"""Long work in slices of a few milliseconds: in between, others get their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.timing.timer import Timer

SLICE_MS = 5
_PAUSE_MS = 1


class SlicedWork:
    """Any number of works, each in slices of its own, until `stop`."""

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self._is_stopped = False

    def run(self, steps: Iterator[object], then: Callable[[], None] | None = None) -> None:
        """Take the steps, the first slice of them at once; `then` follows the last one."""
        if self._is_stopped:
            return
        ends_ms = self._timer.now_ms() + SLICE_MS
        for _ in steps:
            if self._timer.now_ms() >= ends_ms:
                self._timer.call_after(_PAUSE_MS, lambda: self.run(steps, then))
                return
        if then is not None:
            then()

    def stop(self) -> None:
        """No step is taken any more, and nothing follows."""
        self._is_stopped = True
