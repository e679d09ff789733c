"""What the worlds of both coordinators share: logs in memory, virtual time, elections."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from ottla.timing.timer import Timer
from tests.unit.coordinators.fake_log import FakeLog

BEGINNING_MS = 1_700_000_000_000
PARTITIONS = 4


class LoopClock:
    """Wall time that goes with the loop's."""

    def now_ms(self) -> int:
        return BEGINNING_MS + round(asyncio.get_running_loop().time() * 1000)


class Coordinator(Protocol):
    def start(self, partition_count: int) -> None: ...
    def elected(self, partition: int, leader_epoch: int) -> None: ...
    def partition_for(self, name: str, /) -> int: ...


C = TypeVar("C", bound=Coordinator)


class CoordinatedWorld(Generic[C]):
    """Partitions 0 to 3, of which 0 to 2 are led here; `reload` elects anew."""

    coordinator: C  # made by whoever inherits

    def __init__(self, logs: Sequence[FakeLog] | None) -> None:
        self.logs = logs or [FakeLog() for _ in range(PARTITIONS)]
        self.clock = LoopClock()
        self.timer = Timer(asyncio.get_running_loop())
        self.epoch = 0

    async def reload(self) -> None:
        self.epoch += 1
        for number in range(PARTITIONS - 1):
            self.coordinator.elected(number, self.epoch)
        await self.settle()

    async def settle(self) -> None:
        """Until the loop has nothing to do any more at this time."""
        for _ in range(50):
            await asyncio.sleep(0)

    async def wait(self, milliseconds: int) -> None:
        due = asyncio.Event()
        self.timer.call_after(milliseconds, due.set)
        await due.wait()
        await self.settle()

    def log_of(self, name: str) -> FakeLog:
        return self.logs[self.coordinator.partition_for(name)]
