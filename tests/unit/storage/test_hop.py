"""To a thread and back: what comes in turn, and who waits until all is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from ottla.storage.hop import Hop
from ottla.storage.threads import Inline
from tests.virtual_time import on_virtual_time

T = TypeVar("T")


class Held(Inline):
    """Begins at once and ends when told, in the order of the beginnings."""

    def __init__(self) -> None:
        self.under_way: list[tuple[Future[object], object]] = []

    def submit(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self.under_way.append((future, work()))  # type: ignore[arg-type]
        return future

    def end(self, error: Exception | None = None) -> None:
        future, result = self.under_way.pop(0)
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)


def hop_of(held: Held) -> Hop:
    return Hop(held, asyncio.get_running_loop().call_soon)


@on_virtual_time
async def test_two_of_those_in_turn_are_under_way_and_the_next_begins_when_one_ends() -> None:
    held, done = Held(), list[tuple[int, BaseException | None]]()
    hop = hop_of(held)

    def note(number: int, error: BaseException | None) -> None:
        done.append((number, error))

    for number in range(4):
        hop.run_in_turn(lambda: None, partial(note, number))
    assert len(held.under_way) == 2
    bug = RuntimeError("one that fails gives its turn to the next, too")
    held.end(bug)
    await asyncio.sleep(0)
    assert (done, len(held.under_way)) == ([(0, bug)], 2)
    held.end()
    held.end()
    await asyncio.sleep(0)
    assert [number for number, _ in done] == [0, 1, 2]


@on_virtual_time
async def test_who_rests_waits_for_what_is_here_and_not_for_what_comes() -> None:
    held, done = Held(), list[BaseException | None]()
    hop = hop_of(held)
    for _ in range(3):
        hop.run_in_turn(lambda: None, done.append)
    resting = asyncio.ensure_future(hop.rest())
    await asyncio.sleep(0)
    hop.run(lambda: None, lambda _: None)
    later = held.under_way.pop()
    errors = [None, OSError("of which somebody else hears"), None]
    for error in errors:
        assert not resting.done()
        held.end(error)
        await asyncio.sleep(0)
    await asyncio.wait_for(resting, 1)
    assert done == errors
    assert not later[0].done()


@on_virtual_time
async def test_nobody_has_to_wait_for_nothing() -> None:
    await asyncio.wait_for(hop_of(Held()).rest(), 1)
