"""Work that comes again: at intervals, whenever somebody asks, and never after its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ottla.coordinators.chore import Chore
from ottla.coordinators.slices import Slices
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time


class Bench:
    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.timer = Timer(loop)
        self.times_ms: list[int] = []
        slices = Slices(self.timer, loop.call_soon)
        self.chore = Chore(self._steps, slices, self.timer, interval_ms=1_000)

    def _steps(self) -> Iterator[None]:
        self.times_ms.append(self.timer.now_ms())
        yield


@on_virtual_time
async def test_it_is_done_at_intervals_the_first_an_interval_away() -> None:
    bench = Bench()
    bench.chore.start()
    await asyncio.sleep(3.5)
    assert bench.times_ms == [1_000, 2_000, 3_000]
    bench.chore.stop()
    await asyncio.sleep(5)
    assert len(bench.times_ms) == 3
    assert bench.timer.size == 0


@on_virtual_time
async def test_who_asks_for_it_has_it_done_now_and_the_interval_begins_anew() -> None:
    bench = Bench()
    bench.chore.start()
    await asyncio.sleep(0.4)
    bench.chore.run()
    await asyncio.sleep(1.8)
    assert bench.times_ms == [400, 1_400]


@on_virtual_time
async def test_a_run_that_ends_after_the_stop_is_the_last() -> None:
    bench = Bench()
    bench.chore.start()
    bench.chore.run()
    bench.chore.stop()
    await asyncio.sleep(5)
    assert len(bench.times_ms) == 1
