"""What has ended, and in which order, when a broker has stopped."""

from __future__ import annotations

import random

import pytest

from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import CLEAN_SHUTDOWN
from ottla.storage.upkeep import Upkeep
from tests.unit.handlers.one_broker import one_broker
from tests.virtual_time import on_virtual_time


@on_virtual_time
async def test_files_and_cleaner_are_done_before_the_directories_close(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = SimulatedDisk(random.Random(1))
    ended: list[tuple[str, bool]] = []
    finish = Upkeep.finish

    def are_closed() -> bool:
        return disk.status(f"/data/a/{CLEAN_SHUTDOWN}") is not None

    def finish_and_note(upkeep: Upkeep) -> None:
        finish(upkeep)
        ended.append(("upkeep", are_closed()))

    monkeypatch.setattr(
        InlineCleaner, "close", lambda cleaner: ended.append(("cleaner", are_closed()))
    )
    monkeypatch.setattr(Upkeep, "finish", finish_and_note)
    async with one_broker(disk=disk):
        assert ended == []
    assert are_closed()
    assert ended == [("cleaner", False), ("upkeep", False)]
