"""Work that comes again and again, in slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.coordinators.slices import Slices
from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline


class Chore:
    """The interval is from the end of one run to the start of the next."""

    def __init__(
        self,
        steps: Callable[[], Iterator[None]],
        slices: Slices,
        timer: Timer,
        *,
        interval_ms: int,
    ) -> None:
        self._steps = steps
        self._slices = slices
        self._timer = timer
        self._interval_ms = interval_ms
        self._is_active = False
        self._next: Deadline | None = None

    def start(self) -> None:
        """The first run is an interval away."""
        self._is_active = True
        self._wait()

    def run(self) -> None:
        """Now, and then at intervals from now on."""
        self._slices.run(self._steps(), self._wait)

    def stop(self) -> None:
        self._is_active = False
        self._wait()

    def _wait(self) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next = None
        if self._is_active:
            self._next = self._timer.call_after(self._interval_ms, self.run)
