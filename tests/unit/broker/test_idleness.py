"""The share of the last minute in which the loop's thread did nothing."""

from __future__ import annotations

import asyncio

import pytest

from ottla.broker.idleness import Idleness
from tests.virtual_time import on_virtual_time, virtual_loop


@on_virtual_time
async def test_a_loop_that_was_busy_half_of_the_time_was_idle_for_the_other_half() -> None:
    idleness = Idleness(virtual_loop(), lambda: virtual_loop().time() / 2)
    idleness.start()
    await asyncio.sleep(10)
    assert idleness.share() == pytest.approx(0.5)
    idleness.stop()


@on_virtual_time
async def test_only_the_last_minute_counts() -> None:
    spent_s = 0.0
    idleness = Idleness(virtual_loop(), lambda: spent_s)
    idleness.start()
    await asyncio.sleep(100)
    spent_s = 30.0
    assert idleness.share() == pytest.approx(0.5, abs=0.02)
    await asyncio.sleep(100)
    assert idleness.share() == 1
    idleness.stop()


@on_virtual_time
async def test_before_anything_was_seen_it_is_idle() -> None:
    assert Idleness(virtual_loop(), lambda: 7.0).share() == 1
