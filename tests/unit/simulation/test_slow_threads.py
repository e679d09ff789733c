"""Simulated file threads: nothing is done before its time, and nothing is left when they end."""

from __future__ import annotations

import asyncio
import random

import pytest

from ottla.simulation.slow_threads import SlowThreads
from ottla.storage.files import DiskFailed
from tests.virtual_time import on_virtual_time, virtual_loop


def threads(*delay_ms: int) -> SlowThreads:
    made = SlowThreads(virtual_loop(), random.Random(1))
    made.delay_ms = (min(delay_ms), max(delay_ms))
    return made


async def pass_ms(count: int) -> None:
    await asyncio.sleep(count / 1000)


@on_virtual_time
async def test_without_a_delay_work_is_done_at_once() -> None:
    assert threads(0).submit(lambda: 7).result(0) == 7


@on_virtual_time
async def test_work_is_done_at_its_time_and_not_before() -> None:
    future = threads(50).submit(lambda: 7)
    await pass_ms(49)
    assert not future.done()
    await pass_ms(2)
    assert future.result(0) == 7


@on_virtual_time
async def test_who_blocks_for_it_does_not_wait_for_ever() -> None:
    done: list[int] = []
    future = threads(50).submit(lambda: done.append(1))
    future.result()
    await pass_ms(60)
    assert done == [1]


@on_virtual_time
async def test_a_failing_disk_is_told_late_as_well() -> None:
    def fail() -> None:
        raise DiskFailed("/data", OSError())

    future = threads(50).submit(fail)
    await pass_ms(60)
    with pytest.raises(DiskFailed):
        future.result(0)


@on_virtual_time
async def test_closing_finishes_what_was_submitted_and_forgetting_does_not() -> None:
    done: list[int] = []
    closed, forgotten = threads(50), threads(50)
    closed.submit(lambda: done.append(1))
    forgotten.submit(lambda: done.append(2))
    closed.close()
    forgotten.forget()
    await pass_ms(60)
    assert done == [1]
