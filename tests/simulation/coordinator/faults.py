"""What happens to a coordinator: leadership given away and back, deaths, disks that fill or lag."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random

from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.simulation.broker import SimulatedMachine
from ottla.store.paths import partition_state
from ottla.store.znodes import PartitionState
from tests.simulation.broker.conversation import CONTROL_VERSION, FOLLOWER
from tests.simulation.coordinator.model import Clock


class Faults:
    """Each ends by itself, and the coordinator is whole again."""

    def __init__(
        self, machine: SimulatedMachine, clock: Clock, chance: Random, *, is_synced: bool
    ) -> None:
        self._machine = machine
        self._clock = clock
        self._chance = chance
        self._is_synced = is_synced  # whatever was acknowledged survives a power cut, too
        self._usual_ms = (1, 200) if is_synced else (0, 0)
        machine.threads.delay_ms = self._usual_ms

    async def hand_over(self, partition: int, *, topic: str = GROUP_METADATA_TOPIC) -> None:
        """Another broker leads it for a while, and writes nothing; it may take long to load."""
        await self._lead(topic, partition, leader=FOLLOWER, isr=[FOLLOWER, 0])
        await asyncio.sleep(self._chance.uniform(0, 3))
        self._machine.threads.delay_ms = self._chance.choice((self._usual_ms, (10, 1_000)))
        await self._lead(topic, partition, leader=0, isr=[0])
        await asyncio.sleep(self._chance.uniform(0, 3))
        self._machine.threads.delay_ms = self._usual_ms

    async def wait_for_a_silent_replica(
        self, partition: int, *, topic: str = GROUP_METADATA_TOPIC
    ) -> None:
        """Appends time out, and are in the log."""
        await self._lead(topic, partition, leader=0, isr=[0, FOLLOWER])
        await asyncio.sleep(self._chance.uniform(1, 8))
        await self._lead(topic, partition, leader=0, isr=[0])

    async def _lead(self, topic: str, partition: int, *, leader: int, isr: list[int]) -> None:
        """As the controller would; after a death it knows the epoch, and that this broker leads."""
        store, path = self._machine.store, partition_state(topic, partition)
        entry = await store.read(path)
        if entry is None:
            return  # nobody has asked for a group or a transaction yet
        controller_epoch = self._machine.broker.controller.context.epoch
        epoch = PartitionState.decode(entry.data, path).leader_epoch + 1
        await store.write(path, PartitionState(0, epoch, (0,), controller_epoch).encode())
        state = LeaderAndIsrPartitionState(
            partition_index=partition,
            controller_epoch=controller_epoch,
            leader=leader,
            leader_epoch=epoch,
            isr=isr,
            partition_epoch=epoch,
            replicas=[0, FOLLOWER],
        )
        told = LeaderAndIsrTopicState(topic_name=topic, partition_states=[state])
        request = LeaderAndIsrRequest(
            controller_id=0,
            controller_epoch=controller_epoch,
            topic_states=[told],
            live_leaders=[],
        )
        self._clock.disturb()
        client = await self._machine.connect()
        answer = await client.request(request, version=CONTROL_VERSION)
        client.close()
        self._clock.disturb()
        assert isinstance(answer, LeaderAndIsrResponse)
        assert answer.partition_errors[0].error_code == ErrorCode.NONE

    async def die(self) -> None:
        """At the worst moment, if it can: when somebody has just been told that all is well."""
        machine = self._machine
        if self._chance.random() < 0.7:
            self._clock.acknowledged.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._clock.acknowledged.wait(), 2)
        self._clock.disturb()
        ways = (machine.kill, machine.stop, machine.crash if self._is_synced else machine.kill)
        await self._chance.choice(ways)()
        await asyncio.sleep(self._chance.uniform(0, 5))
        machine.disk.make_room()  # what it has to repair may need some
        await machine.start()
        self._clock.disturb()

    async def fill_disk(self) -> None:
        self._machine.disk.fill_up()
        await asyncio.sleep(self._chance.uniform(1, 8))
        self._machine.disk.make_room()

    async def slow_down(self) -> None:
        self._machine.threads.delay_ms = (1, self._chance.choice((50, 500, 4_000)))
        await asyncio.sleep(self._chance.uniform(1, 10))
        self._machine.threads.delay_ms = self._usual_ms

    async def set_the_clock(self) -> None:
        """The wall's: what waits must not notice."""
        self._machine.clock.skew_ms = self._chance.randrange(-3_600_000, 3_600_000)
