"""Long work lets others have their turn, and comes to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ottla.coordinators.slices import Slices
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time, virtual_loop


def steps(done: list[str], name: str, count: int) -> Iterator[None]:
    for number in range(count):
        done.append(f"{name}{number}")
        virtual_loop().now += 0.003  # each takes its time
        yield


@on_virtual_time
async def test_a_slice_ends_when_its_time_is_over_and_the_loop_goes_round() -> None:
    loop, done = asyncio.get_running_loop(), list[str]()
    slices = Slices(Timer(loop), loop.call_soon)
    slices.run(steps(done, "a", 3), lambda: done.append("a done"))
    assert done == []
    loop.call_soon(done.append, "others")
    await asyncio.sleep(0)
    assert done == ["a0", "a1", "others"]
    await asyncio.sleep(0)
    assert done == ["a0", "a1", "others", "a2", "a done"]


@on_virtual_time
async def test_works_are_done_one_after_the_other_also_one_that_follows_from_another() -> None:
    loop, done = asyncio.get_running_loop(), list[str]()
    slices = Slices(Timer(loop), loop.call_soon)
    slices.run(
        steps(done, "a", 1), lambda: slices.run(steps(done, "c", 1), lambda: done.append("end"))
    )
    slices.run(steps(done, "b", 1), lambda: None)
    for _ in range(5):
        await asyncio.sleep(0)
    assert done == ["a0", "b0", "c0", "end"]
