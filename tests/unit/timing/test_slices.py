"""Long work on virtual time: how much is done at once, what follows, and that it can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ottla.timing.slices import SLICE_MS, SlicedWork
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time, virtual_loop


class Work:
    """Steps that take their time, and what they have come to."""

    def __init__(self) -> None:
        self.done = 0
        self.ended = 0

    def steps(self, count: int, *, each_ms: int = 1) -> Iterator[None]:
        for _ in range(count):
            virtual_loop().now += each_ms / 1000
            self.done += 1
            yield

    def end(self) -> None:
        self.ended += 1


@pytest.mark.parametrize("count", [0, 1, SLICE_MS - 1])
@on_virtual_time
async def test_short_work_is_done_at_once(count: int) -> None:
    work = Work()
    SlicedWork(Timer(virtual_loop())).run(work.steps(count), work.end)
    assert (work.done, work.ended) == (count, 1)


@pytest.mark.parametrize("each_ms", [1, 2, SLICE_MS, 100])
@on_virtual_time
async def test_long_work_lets_others_have_their_turn(each_ms: int) -> None:
    timer, work = Timer(virtual_loop()), Work()
    SlicedWork(timer).run(work.steps(20, each_ms=each_ms), work.end)
    turns = [work.done]
    while not work.ended:
        await asyncio.sleep(0.001)
        turns.append(work.done)
    most = max(after - before for before, after in zip([0, *turns], turns, strict=False))
    assert most == -(-SLICE_MS // each_ms)
    await asyncio.sleep(1)
    assert (work.done, work.ended, timer.size) == (20, 1, 0)


@on_virtual_time
async def test_works_go_on_side_by_side() -> None:
    sliced, first, second = SlicedWork(Timer(virtual_loop())), Work(), Work()
    sliced.run(first.steps(100), first.end)
    second_ended = asyncio.Event()
    sliced.run(second.steps(20), second_ended.set)
    await second_ended.wait()
    assert 0 < first.done < 100
    await asyncio.sleep(1)
    assert (first.done, first.ended) == (100, 1)


@on_virtual_time
async def test_nothing_need_follow() -> None:
    work = Work()
    SlicedWork(Timer(virtual_loop())).run(work.steps(20))
    await asyncio.sleep(1)
    assert work.done == 20


@on_virtual_time
async def test_work_that_is_stopped_ends_where_it_is() -> None:
    sliced, begun, late = SlicedWork(Timer(virtual_loop())), Work(), Work()
    sliced.run(begun.steps(100), begun.end)
    sliced.stop()
    sliced.run(late.steps(1), late.end)
    await asyncio.sleep(1)
    assert (begun.done, begun.ended) == (SLICE_MS, 0)
    assert (late.done, late.ended) == (0, 0)
