"""Upkeep of the log directories that takes long: clients are served meanwhile, and it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ottla.storage.upkeep import Upkeep
from tests.unit.handlers.one_broker import one_broker
from tests.virtual_time import on_virtual_time, virtual_loop


@on_virtual_time
async def test_endless_work_is_done_in_slices_until_the_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0

    def endless(_upkeep: Upkeep, _now_ms: int) -> Iterator[None]:
        nonlocal steps
        while True:
            virtual_loop().now += 0.001
            steps += 1
            yield

    monkeypatch.setattr(Upkeep, "remove_files", endless)
    async with one_broker():
        await asyncio.sleep(10)
        assert steps > 1000
    done = steps
    await asyncio.sleep(10)
    assert steps == done
