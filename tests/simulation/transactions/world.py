"""A broker, transactional producers that come and go, a loop, readers, and what befalls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from ottla.protocol.apis.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.simulation.broker import SimulatedMachine
from ottla.verify.checker import check
from ottla.verify.findings import Report
from ottla.verify.history import Isolation
from tests.simulation.broker.conversation import create_topic
from tests.simulation.coordinator.faults import Faults
from tests.simulation.coordinator.model import Clock
from tests.simulation.transactions.loop import Transformer, fetch_offsets
from tests.simulation.transactions.producer import Producer
from tests.simulation.transactions.reader import Reader, settled
from tests.simulation.transactions.speech import DIALECTS, OF_3_9
from tests.simulation.transactions.stage import INPUTS, OUTPUTS, Stage

TRANSACTION_PARTITIONS = 2
WRITERS = ("writer-a", "writer-b", "writer-c")
LOOP = "looper"
FAULTS = 25
RECOVERY_S = 200.0
_IDLE = ("Empty", "CompleteCommit", "CompleteAbort")


class World:
    def __init__(self, machine: SimulatedMachine, seed: int, *, is_synced: bool) -> None:
        self._machine = machine
        self._chance = Random(f"transactions {seed}")
        self._stage = Stage(machine, self._chance)
        clock = Clock(machine.network.loop.time)
        clock.acknowledged = self._stage.acknowledged
        self._faults = Faults(machine, clock, self._chance, is_synced=is_synced)
        self._alive: dict[str, list[tuple[Producer | Transformer, asyncio.Task[None]]]] = {}
        self._passing: list[asyncio.Task[None]] = []

    async def run(self) -> Report:
        client = await self._machine.connect()
        for topic in ("input", "output"):
            await create_topic(client, topic, partitions=2)
        client.close()
        async with self._stage.tasks:
            for isolation in Isolation:
                reader = Reader(self._stage, isolation, isolation, max_wait_ms=500)
                self._stage.tasks.create_task(reader.live())
            keepers = [self._stage.tasks.create_task(self._keep(each)) for each in (*WRITERS, LOOP)]
            for _ in range(FAULTS):
                await self._stage.dawdle(5)
                await self._befall()
            self._stage.is_closing = True
            for task in (*self._passing, *keepers):
                await task
        await self._finish()
        return check(self._stage.recorder.history())

    # Who is there

    async def _keep(self, transactional_id: str) -> None:
        """There is nearly always somebody who has the id, and sometimes two who think so."""
        lives = self._alive.setdefault(transactional_id, [])
        while not self._stage.is_closing:
            if not lives or self._stage.happens(0.02):
                self._arrive(transactional_id)
            await self._stage.dawdle(1)
            lives[:] = [each for each in lives if not each[1].done()]
        for _, task in lives:
            await asyncio.wait([task], timeout=RECOVERY_S)
            assert task.done(), f"{transactional_id} does not end"

    def _arrive(self, transactional_id: str) -> None:
        kind = Transformer if transactional_id == LOOP else Producer
        client = kind(self._stage, transactional_id, self._chance.choice(DIALECTS))
        task = self._stage.tasks.create_task(client.live())
        self._alive[transactional_id].append((client, task))

    # What befalls them

    async def _befall(self) -> None:
        logs = [(TRANSACTION_STATE_TOPIC, index) for index in range(TRANSACTION_PARTITIONS)]
        data = self._chance.choice(INPUTS + OUTPUTS)
        places = [*logs, (GROUP_METADATA_TOPIC, 0), (data.topic, data.partition)]
        topic, partition = self._chance.choice(places)
        happenings: dict[Callable[[], Coroutine[Any, Any, None]], float] = {
            self._crash: 6,
            self._disconnect: 3,
            lambda: self._faults.hand_over(partition, topic=topic): 4,
            lambda: self._faults.wait_for_a_silent_replica(partition, topic=topic): 2,
            self._faults.die: 2,
            lambda: self._begin(self._faults.fill_disk): 1,
            lambda: self._begin(self._faults.slow_down): 1,
            self._faults.set_the_clock: 0.5,
        }
        [happens] = self._chance.choices(list(happenings), list(happenings.values()))
        await happens()

    async def _begin(self, fault: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """It lasts while other things happen."""
        self._passing.append(self._stage.tasks.create_task(fault()))

    async def _crash(self) -> None:
        """A producer never says another word; its connection may outlive it for a while."""
        everybody = [each for lives in self._alive.values() for each in lives]
        if everybody:
            _, task = self._chance.choice(everybody)
            task.cancel()

    async def _disconnect(self) -> None:
        for lives in self._alive.values():
            for client, _ in lives:
                if self._chance.random() < 0.5:
                    client.cut()

    # When it is over

    async def _finish(self) -> None:
        """Nobody's transaction stays open; then all is read that there is."""
        await self._fence_all()
        await settled(self._stage, within_s=RECOVERY_S)
        await self._check_idle()
        for isolation in Isolation:
            reader = Reader(self._stage, "final", isolation, max_wait_ms=0)
            for partition in INPUTS + OUTPUTS:
                await reader.read_all(partition)
        await fetch_offsets(self._stage, reader)

    async def _fence_all(self) -> None:
        for transactional_id in (*WRITERS, LOOP):
            await Producer(self._stage, transactional_id, OF_3_9).initialize()

    async def _check_idle(self) -> None:
        client = await self._machine.connect()
        answer = await client.request(
            ListTransactionsRequest(state_filters=[], producer_id_filters=[])
        )
        assert isinstance(answer, ListTransactionsResponse)
        assert answer.error_code == ErrorCode.NONE
        for each in answer.transaction_states:
            assert each.transaction_state in _IDLE, each
        client.close()
