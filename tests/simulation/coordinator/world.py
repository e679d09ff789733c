"""A broker, two groups that come and go, somebody who commits alone, and what befalls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from ottla.network.client import BrokerClient
from ottla.protocol.apis.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchResponse, OffsetFetchResponsePartition
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.conversation import create_topic
from tests.simulation.coordinator import dialect
from tests.simulation.coordinator.consumer import PARTITIONS, Consumer, Loner, Stage
from tests.simulation.coordinator.dialect import DIALECTS, OF_2_3, OF_3_9, TOPIC
from tests.simulation.coordinator.faults import Faults
from tests.simulation.coordinator.model import STATIC, Clock, GroupModel

OFFSETS_PARTITIONS = 3
MOST_IN_A_GROUP = 5
FAULTS = 40
# New members that nobody hears of wait five minutes at most, and the others for them.
RECOVERY_S = 400
_INSTANCES = 2


class World:
    def __init__(self, machine: SimulatedMachine, seed: int, *, is_synced: bool) -> None:
        self._machine = machine
        self._chance = Random(f"coordinator {seed}")
        self._clock = Clock(machine.network.loop.time)
        self._faults = Faults(machine, self._clock, self._chance, is_synced=is_synced)
        self._models = {id: GroupModel(id, self._clock) for id in ("eager", "willing", "alone")}
        self.consumers: dict[str, list[Consumer]] = {id: [] for id in self._models}
        self._tasks = asyncio.TaskGroup()
        self._passing: list[asyncio.Task[None]] = []
        self._started = 0

    async def run(self) -> None:
        client = await self._machine.connect()
        await create_topic(client, TOPIC, partitions=PARTITIONS)
        client.close()
        async with self._tasks:
            self._start(Loner(**self._manner("alone"), name="loner", speaks=OF_3_9))
            for group in ("eager", "eager", "willing", "willing"):
                self._arrive(group)
            for _ in range(FAULTS):
                await asyncio.sleep(self._chance.uniform(0.2, 4))
                await self._befall()
            await self._recover()
        await self._faults.die()
        await self._check_offsets(await self._machine.connect())

    # Who is there

    def _manner(self, group: str) -> dict[str, Any]:
        return {
            "machine": self._machine,
            "model": self._models[group],
            "clock": self._clock,
            "chance": self._chance,
            "instance_id": None,
            "is_cooperative": group == "willing",
        }

    def alive(self, group: str) -> list[Consumer]:
        return [each for each in self.consumers[group] if not each.is_over]

    def _start(self, consumer: Consumer) -> None:
        self._started += 1
        self.consumers[consumer.who.group].append(consumer)
        consumer.task = self._tasks.create_task(consumer.run())

    def _arrive(self, group: str) -> None:
        manner = self._manner(group)
        if self._chance.random() < 0.3:
            # If that instance is alive, one of the two will hear that it is fenced.
            manner["instance_id"] = f"{STATIC}-{self._chance.randrange(_INSTANCES)}"
            manner["speaks"] = self._chance.choice((OF_3_9, OF_2_3))
        else:
            manner["speaks"] = self._chance.choice(DIALECTS)
        self._start(Consumer(**manner, name=f"reader-{self._started}"))

    # What befalls them

    async def _befall(self) -> None:
        partition = self._chance.randrange(OFFSETS_PARTITIONS)
        happenings: dict[Callable[[], Coroutine[Any, Any, None]], float] = {
            self._come: 5,
            self._go: 3,
            self._disconnect: 4,
            lambda: self._faults.hand_over(partition): 2,
            lambda: self._faults.wait_for_a_silent_replica(partition): 1,
            self._faults.die: 1.5,
            lambda: self._begin(self._faults.fill_disk): 1,
            lambda: self._begin(self._faults.slow_down): 1,
            self._faults.set_the_clock: 0.5,
        }
        [happens] = self._chance.choices(list(happenings), list(happenings.values()))
        await happens()

    async def _begin(self, fault: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """It lasts while other things happen."""
        self._passing.append(self._tasks.create_task(fault()))

    async def _come(self) -> None:
        group = self._chance.choice(("eager", "willing"))
        if len(self.alive(group)) < MOST_IN_A_GROUP:
            self._arrive(group)

    async def _go(self) -> None:
        members = [*self.alive("eager"), *self.alive("willing")]
        if members:
            consumer = self._chance.choice(members)
            if self._chance.random() < 0.5:
                consumer.wants_to_leave = True
            else:
                consumer.crash(closes=self._chance.random() < 0.5)

    async def _disconnect(self) -> None:
        everybody = [each for group in self.consumers for each in self.alive(group)]
        for consumer in self._chance.sample(everybody, self._chance.randint(1, len(everybody))):
            consumer.cut()

    # When it is over

    async def _recover(self) -> None:
        """Nothing happens any more: everybody must find a place, and all partitions an owner."""
        for task in self._passing:
            await task
        for consumers in self.consumers.values():
            for consumer in consumers:
                consumer.is_calm = True
        client = await self._machine.connect()
        ends = self._clock.now() + RECOVERY_S
        groups = ("eager", "willing")
        while not all([await self._is_well(client, group) for group in groups]):
            assert self._clock.now() < ends, [await self._report(client, each) for each in groups]
            await asyncio.sleep(1)
        await self._check_offsets(client)
        for group in self.consumers:
            for consumer in self.alive(group):
                consumer.crash(closes=True)

    async def _is_well(self, client: BrokerClient, group: str) -> bool:
        alive = self.alive(group)
        if any(each.stage is not Stage.WORK or each.wants_to_leave for each in alive):
            return False
        owned = sorted(index for each in alive for index in each.owned)
        generations = dict.fromkeys(each.generation for each in alive)
        if alive and (owned != list(range(PARTITIONS)) or len(generations) > 1):
            return False
        found = await self._describe(client, group)
        members = sorted(each.member_id for each in found.members)
        if members != sorted(each.member_id for each in alive):
            return False
        return found.group_state in (("Stable",) if alive else ("Empty", "Dead"))

    async def _describe(self, client: BrokerClient, group: str) -> DescribedGroup:
        answer = await client.request(DescribeGroupsRequest(groups=[group]))
        assert isinstance(answer, DescribeGroupsResponse)
        return answer.groups[0]

    async def _report(self, client: BrokerClient, group: str) -> str:
        believed = [
            (each.name, each.member_id, each.stage.value, each.generation, each.owned)
            for each in self.alive(group)
        ]
        found = await self._describe(client, group)
        members = [each.member_id for each in found.members]
        return f"{group} is {found.group_state} {members}, its consumers believe {believed}"

    async def _check_offsets(self, client: BrokerClient) -> None:
        for model in self._models.values():
            asked = self._clock.asked()
            for each in await self._offsets(client, model.id):
                model.heard_offset(
                    asked,
                    partition=each.partition_index,
                    offset=each.committed_offset,
                    metadata=each.metadata or "",
                )

    async def _offsets(
        self, client: BrokerClient, group: str
    ) -> list[OffsetFetchResponsePartition]:
        version = OF_2_3.fetch
        request = dialect.fetch_request(group, range(PARTITIONS), version)
        for _ in range(100):
            answer = await client.request(request, version=version)
            assert isinstance(answer, OffsetFetchResponse)
            error, found = dialect.fetched(answer, version)
            if error is ErrorCode.NONE:
                return found
            assert error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, f"{group}: {error.name}"
            await asyncio.sleep(0.1)
        raise AssertionError(f"{group} is not loaded")
