"""When a broker's process looks for garbage."""

from __future__ import annotations

import asyncio
import gc

from ottla.broker.garbage import GarbageRest
from tests.virtual_time import on_virtual_time


@on_virtual_time
async def test_a_full_collection_waits_for_a_pause_and_comes_once_in_it() -> None:
    loop, requests, collected = asyncio.get_running_loop(), [0], list[float]()
    rest = GarbageRest(loop, lambda: requests[0], lambda: collected.append(loop.time()))
    rest.start()
    for _ in range(30):  # a minute of requests
        requests[0] += 1
        await asyncio.sleep(2)
    assert collected == []
    await asyncio.sleep(100)
    assert len(collected) == 1
    requests[0] += 1
    await asyncio.sleep(100)
    assert len(collected) == 2
    rest.stop()


@on_virtual_time
async def test_who_never_pauses_is_stopped_for_it_at_last() -> None:
    loop, requests, collected = asyncio.get_running_loop(), [0], list[float]()
    rest = GarbageRest(loop, lambda: requests[0], lambda: collected.append(loop.time()))
    rest.start()
    for _ in range(30 * 60):  # an hour
        requests[0] += 1
        await asyncio.sleep(2)
    assert 5 <= len(collected) <= 6
    rest.stop()


@on_virtual_time
async def test_meanwhile_python_does_none_by_itself() -> None:
    before = gc.get_threshold()
    rest = GarbageRest(asyncio.get_running_loop(), lambda: 0, lambda: None)
    rest.start()
    try:
        assert gc.get_threshold()[:2] == before[:2]
        assert gc.get_threshold()[2] > 1_000_000_000
    finally:
        rest.stop()
    assert gc.get_threshold() == before
