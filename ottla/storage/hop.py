"""From the loop to a file thread and back: what waits for the disk, and what follows it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from ottla.storage.threads import Background

_MOST_TURNS = 2  # of a few threads: the others are for the disk

Work = Callable[[], object]
Then = Callable[[BaseException | None], None]


class _Errand:
    """One piece of work, until whoever waits for it has heard."""

    __slots__ = ("then", "work")

    def __init__(self, work: Work, then: Then) -> None:
        self.work = work
        self.then = then


class Hop:
    """`then` runs on the loop with the work's exception, or None."""

    def __init__(
        self, background: Background, call_soon: Callable[[Callable[[], None]], object]
    ) -> None:
        self._background = background
        self._call_soon = call_soon  # safe to call from any thread
        self._errands: dict[_Errand, None] = {}
        self._in_turn: deque[_Errand] = deque()
        self._turns = 0  # that are taken
        self._resting: list[asyncio.Future[None]] = []  # told when one is done

    def run(self, work: Work, then: Then) -> None:
        errand = _Errand(work, then)
        self._errands[errand] = None
        self._submit(errand)

    def _submit(self, errand: _Errand) -> None:
        self._background.submit(errand.work).add_done_callback(partial(self._done, errand))

    def _done(self, errand: _Errand, future: Future[object]) -> None:
        """Wherever the work ran."""
        self._call_soon(partial(self._back, errand, future.exception()))

    def _back(self, errand: _Errand, error: BaseException | None) -> None:
        try:
            errand.then(error)
        finally:
            del self._errands[errand]
            resting, self._resting = self._resting, []
            for each in resting:
                if not each.done():
                    each.set_result(None)

    def run_in_turn(self, work: Work, then: Then) -> None:
        """As `run`, for what a client compressed: nobody knows how much memory that needs."""
        errand = _Errand(work, partial(self._turn_over, then))
        self._errands[errand] = None
        self._in_turn.append(errand)
        self._take_turns()

    def _take_turns(self) -> None:
        while self._in_turn and self._turns < _MOST_TURNS:
            self._turns += 1
            self._submit(self._in_turn.popleft())

    def _turn_over(self, then: Then, error: BaseException | None) -> None:
        self._turns -= 1
        self._take_turns()
        then(error)

    async def wait(self, work: Work) -> None:
        """As `run` for those who can await it; raises what the work raised."""
        answer = asyncio.get_running_loop().create_future()

        def then(error: BaseException | None) -> None:
            if answer.done():
                return  # whoever waited has gone away
            if error is None:
                answer.set_result(None)
            else:
                answer.set_exception(error)

        self.run(work, then)
        await answer

    async def rest(self) -> None:
        """Until all that is here now is done, and whoever waits for it has heard."""
        awaited = list(self._errands)
        while any(each in self._errands for each in awaited):
            told = asyncio.get_running_loop().create_future()
            self._resting.append(told)
            await told
