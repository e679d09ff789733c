"""One round of the event loop, and what is put off to its end.

Log writes come first, so that all appends to a partition in one round share one write. Then whoever
waited for them is answered, and at last each connection sends everything it has in one go.
"""

from __future__ import annotations

from collections.abc import Callable

Work = Callable[[], None]


class Tick:
    """Collects work for the end of the round; `end` does it, or the loop soon does."""

    __slots__ = ("_call_soon", "_is_open", "_sends", "_settlements", "_writes")

    def __init__(self, call_soon: Callable[[Work], object]) -> None:
        self._call_soon = call_soon
        self._is_open = False
        self._writes: list[Work] = []
        self._settlements: list[Work] = []
        self._sends: list[Work] = []

    def begin(self) -> None:
        """Whoever calls this calls `end` too: nothing needs to be scheduled.

        What was put off before is done first: a round reads into buffers that unwritten appends
        may lie in.
        """
        if self._writes or self._settlements or self._sends:
            self.end()
        self._is_open = True

    def write(self, work: Work) -> None:
        self._writes.append(work)
        if not self._is_open:
            self._schedule()

    def settle(self, work: Work) -> None:
        """Run once the writes of this round are done."""
        self._settlements.append(work)
        if not self._is_open:
            self._schedule()

    def send(self, work: Work) -> None:
        self._sends.append(work)
        if not self._is_open:
            self._schedule()

    def _schedule(self) -> None:
        self._is_open = True
        self._call_soon(self.end)

    def end(self) -> None:
        """Do everything, and what that brings up, in the order: writes, settlements, sends.

        If one piece of work fails, the loop soon does the rest: whoever is not told that his write
        is done, or does not send, would wait for ever.
        """
        self._is_open = True
        while True:
            if self._writes:
                works, self._writes = self._writes, []
                queue = self._writes
            elif self._settlements:
                works, self._settlements = self._settlements, []
                queue = self._settlements
            elif self._sends:
                works, self._sends = self._sends, []
                queue = self._sends
            else:
                break
            left = iter(works)
            try:
                for work in left:
                    work()
            except Exception:
                queue[:0] = left
                self._schedule()
                raise
        self._is_open = False
