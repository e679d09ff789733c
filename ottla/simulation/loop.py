"""An event loop on virtual time: when nothing is ready, it is at once the time of the next timer.

For code on simulated ports. A real socket or thread would see time jump under it.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

_Ready = list[tuple[selectors.SelectorKey, int]]


class Stuck(Exception):
    """Nothing is ready and no timer is set, so nothing will ever happen again."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A callback that raises ends the run, unless an exception handler is set: here it is a bug."""

    def __init__(self) -> None:
        self.now = 0.0
        self.jumps = 0  # how often it slept, so to speak
        self._waited_s = 0.0
        self._failure: BaseException | None = None
        super().__init__(_Jumper(self))
        self.set_exception_handler(lambda _, context: self.keep_failure(context))

    def time(self) -> float:
        return self.now

    def spent_s(self) -> float:
        """Its processor time, so to speak: what passed while a callback ran, and not by a jump."""
        return self.now - self._waited_s

    def check(self) -> None:
        """Raises what a callback raised."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def jump(self, seconds: float | None) -> None:
        if seconds is None:
            waiting = sorted(_name(task) for task in asyncio.all_tasks(self))
            raise Stuck(
                f"at {self.now:.3f} s nothing is ready and no timer is set, "
                f"but these wait: {', '.join(waiting)}"
            )
        if seconds > 0:
            self.jumps += 1
            before = self.now
            # asyncio gives us a difference; rounded, the sum is the timer's own time again.
            self.now = round(self.now + seconds, 9)
            self._waited_s += self.now - before

    def keep_failure(self, context: dict[str, Any]) -> None:
        """The run ends with it; for exception handlers that do not know better."""
        self.default_exception_handler(context)
        failure = context.get("exception") or RuntimeError(context["message"])
        self._failure = self._failure or failure


def _name(task: asyncio.Task[Any]) -> str:
    return f"{task.get_name()} in {getattr(task.get_coro(), '__qualname__', '?')}"


class _Jumper(selectors.DefaultSelector):
    """Polls, and instead of waiting moves the loop's time."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> _Ready:
        self._loop.check()
        ready = super().select(0)
        if not ready:
            self._loop.jump(timeout)
        return ready
