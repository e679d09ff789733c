"""The timer on virtual time: when it calls, how often it wakes, what a bad callback does."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from ottla.simulation.clock import VirtualClock
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time, virtual_loop


@pytest.mark.parametrize("delay_ms", [1, 57, 500, 570, 30_000, 300_000, 3_600_000])
@on_virtual_time
async def test_a_callback_comes_after_its_delay(delay_ms: int) -> None:
    await asyncio.sleep(0.0137)
    timer = Timer(virtual_loop())
    called = asyncio.Event()
    timer.call_after(delay_ms, called.set)
    await called.wait()
    assert virtual_loop().time() - 0.0137 >= delay_ms / 1000
    assert virtual_loop().time() - 0.0137 < delay_ms / 1000 + 0.001


@pytest.mark.parametrize("delay_ms", [0, -1, -30_000])
@on_virtual_time
async def test_a_callback_without_delay_comes_at_once_but_not_from_inside(delay_ms: int) -> None:
    timer = Timer(virtual_loop())
    called: list[int] = []
    timer.call_after(delay_ms, lambda: called.append(timer.now_ms()))
    assert called == []
    await asyncio.sleep(0.001)
    assert called == [0]


@on_virtual_time
async def test_callbacks_come_in_the_order_of_their_deadlines() -> None:
    timer = Timer(virtual_loop())
    called: list[tuple[int, int]] = []

    def note(delay_ms: int) -> None:
        called.append((delay_ms, timer.now_ms()))

    for delay_ms in (900, 5, 450, 451, 8_000, 20, 0):
        timer.call_after(delay_ms, partial(note, delay_ms))
    await asyncio.sleep(9)
    assert called == [(at, at) for at in (0, 5, 20, 450, 451, 900, 8_000)]
    assert timer.size == 0


@on_virtual_time
async def test_a_callback_may_cancel_another_of_the_same_millisecond() -> None:
    timer = Timer(virtual_loop())
    called: list[str] = []

    def cancel_second() -> None:
        second.cancel()

    timer.call_after(5, cancel_second)
    second = timer.call_after(5, partial(called.append, "second"))
    timer.call_after(5, partial(called.append, "third"))
    await asyncio.sleep(1)
    assert called == ["third"]


@on_virtual_time
async def test_a_callback_may_set_the_next() -> None:
    timer = Timer(virtual_loop())
    called: list[int] = []

    def again() -> None:
        called.append(timer.now_ms())
        if len(called) < 5:
            timer.call_after(100, again)

    timer.call_after(100, again)
    await asyncio.sleep(1)
    assert called == [100, 200, 300, 400, 500]


@on_virtual_time
async def test_a_callback_that_raises_is_reported_and_the_others_are_called() -> None:
    loop, called, reported = virtual_loop(), list[int](), list[object]()
    loop.set_exception_handler(lambda _, context: reported.append(context["exception"]))
    timer, bug = Timer(loop), AssertionError("our bug")

    def fail() -> None:
        raise bug

    for delay_ms in (5, 5, 7):
        timer.call_after(delay_ms, fail)
        timer.call_after(delay_ms, partial(called.append, delay_ms))
    await asyncio.sleep(1)
    assert called == [5, 5, 7]
    assert reported == [bug, bug, bug]


@on_virtual_time
async def test_a_jump_of_wall_time_moves_no_deadline() -> None:
    loop = virtual_loop()
    timer, clock = Timer(loop), VirtualClock(loop, start_ms=1_700_000_000_000)
    called = asyncio.Event()
    timer.call_after(500, called.set)
    await asyncio.sleep(0.1)
    clock.skew_ms = 3_600_000
    await called.wait()
    assert timer.now_ms() == 500
    assert clock.now_ms() == 1_700_003_600_500


@on_virtual_time
async def test_an_hour_with_one_deadline_at_its_end_takes_few_wakings() -> None:
    loop, called = virtual_loop(), asyncio.Event()
    Timer(loop).call_after(3_599_999, called.set)
    await called.wait()
    assert loop.jumps <= 6  # one for each level


@on_virtual_time
async def test_deadlines_that_are_cancelled_in_time_wake_nobody_twice() -> None:
    loop = virtual_loop()
    timer = Timer(loop)
    for delay_ms in range(1, 10_000):
        timer.call_after(delay_ms, lambda: None).cancel()
    assert timer.size == 0
    await asyncio.sleep(3_600)
    assert loop.jumps <= 3


@on_virtual_time
async def test_a_closed_timer_calls_nobody() -> None:
    timer = Timer(virtual_loop())
    called: list[str] = []
    timer.call_after(5, partial(called.append, "before"))
    timer.close()
    timer.call_after(5, partial(called.append, "after"))
    await asyncio.sleep(1)
    assert called == []


@on_virtual_time
async def test_the_timer_describes_itself() -> None:
    timer = Timer(virtual_loop())
    assert timer.describe()["next_turn_ms"] is None
    for delay_ms in (5, 500, 510):
        timer.call_after(delay_ms, lambda: None)
    assert timer.describe() == {
        "next_turn_ms": 5,
        "now_ms": 0,
        "pending": 3,
        "due": 0,
        "busy_buckets": 2,
        "levels": [
            {"tick_ms": 1, "busy_buckets": 1, "pending": 1},
            {"tick_ms": 20, "busy_buckets": 0, "pending": 0},
            {"tick_ms": 400, "busy_buckets": 1, "pending": 2},
        ],
    }


def test_a_real_loop_turns_it_too() -> None:
    async def wait() -> float:
        loop, called = asyncio.get_running_loop(), asyncio.Event()
        start = loop.time()
        Timer(loop).call_after(21, called.set)
        await called.wait()
        return loop.time() - start

    assert asyncio.run(wait()) >= 0.0209  # never early; how late is the machine's business
