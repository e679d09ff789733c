"""Virtual time: it jumps, it is exact, and it says when nothing can happen any more."""

from __future__ import annotations

import asyncio

import pytest

from ottla.simulation.clock import VirtualClock
from ottla.simulation.loop import Stuck, VirtualTimeLoop
from tests.virtual_time import on_virtual_time, virtual_loop


@on_virtual_time
async def test_an_hour_passes_at_once() -> None:
    await asyncio.sleep(3_600)
    assert virtual_loop().time() == 3_600
    assert virtual_loop().jumps == 1


@on_virtual_time
async def test_a_month_passes_though_asyncio_sleeps_a_day_at_most() -> None:
    await asyncio.sleep(30 * 86_400)
    assert virtual_loop().time() == 30 * 86_400


@on_virtual_time
async def test_many_short_steps_do_not_drift() -> None:
    for _ in range(1_000):
        await asyncio.sleep(0.1)
    assert virtual_loop().time() == 100


@on_virtual_time
async def test_time_is_spent_by_callbacks_and_not_by_waiting() -> None:
    await asyncio.sleep(10)
    assert virtual_loop().spent_s() == 0
    virtual_loop().now += 3
    await asyncio.sleep(10)
    assert virtual_loop().spent_s() == 3


@on_virtual_time
async def test_time_stands_still_while_something_is_ready() -> None:
    for _ in range(100):
        await asyncio.sleep(0)
    assert virtual_loop().time() == 0


def test_waiting_for_what_never_comes_is_an_error_that_names_who_waits() -> None:
    @on_virtual_time
    async def wait_for_ever() -> None:
        await asyncio.sleep(1.5)
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match=r"at 1\.500 s .*wait_for_ever"):
        wait_for_ever()


def test_a_callback_that_raises_ends_the_run() -> None:
    def fail() -> None:
        raise AssertionError("our bug")

    @on_virtual_time
    async def call_and_wait() -> None:
        asyncio.get_running_loop().call_later(5, fail)
        await asyncio.sleep(3_600)

    @on_virtual_time
    async def call_and_end() -> None:
        asyncio.get_running_loop().call_soon(fail)
        await asyncio.sleep(0)

    for test in (call_and_wait, call_and_end):
        with pytest.raises(AssertionError, match="our bug"):
            test()


def test_a_clock_follows_the_loop_and_may_be_wrong() -> None:
    loop = VirtualTimeLoop()
    right, wrong = VirtualClock(loop, start_ms=10), VirtualClock(loop, start_ms=10, skew_ms=-7)
    loop.run_until_complete(asyncio.sleep(0.57))
    assert (right.now_ms(), wrong.now_ms()) == (580, 573)
    wrong.skew_ms = 5_000
    assert wrong.now_ms() == 5_580
    loop.close()
