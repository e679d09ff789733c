"""A cluster for tests: a tree in memory, controllers on it, and brokers that only take notes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import TypeVar

from ottla.controller.context import TopicPartition
from ottla.controller.controller import Controller
from ottla.controller.registration import Registration, create_roots
from ottla.controller.term import ControllerSettings
from ottla.controller.topics import CreatedTopic, TopicRules, create_topics
from ottla.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from ottla.protocol.apis.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from ottla.protocol.apis.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.schema import Message
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store import paths
from ottla.store.port import NoNode
from ottla.store.registration import BrokerRegistration, Endpoint
from ottla.store.znodes import PartitionState

M = TypeVar("M", bound=Message)

START_MS = 1_700_000_000_000


class RecordingBrokers:
    """Answers as brokers do; `broken` replicas have a failed disk, `undeletable` ones stay."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, Message]] = []
        self.broken: dict[tuple[int, TopicPartition], None] = {}
        self.undeletable: dict[int, None] = {}
        self.failures = 0

    async def send(self, broker: int, request: Message) -> Message:
        if self.failures:
            self.failures -= 1
            raise ConnectionRefusedError(f"broker {broker} is away")
        self.requests.append((broker, request))
        match request:
            case LeaderAndIsrRequest():
                return self._leader_and_isr(broker, request)
            case StopReplicaRequest():
                return self._stop_replica(broker, request)
            case _:
                return UpdateMetadataResponse()

    def _leader_and_isr(self, broker: int, request: LeaderAndIsrRequest) -> LeaderAndIsrResponse:
        def code(at: TopicPartition) -> int:
            is_broken = (broker, at) in self.broken
            return ErrorCode.KAFKA_STORAGE_ERROR if is_broken else ErrorCode.NONE

        return LeaderAndIsrResponse(
            topics=[
                LeaderAndIsrTopicError(
                    topic_id=topic.topic_id,
                    partition_errors=[
                        LeaderAndIsrPartitionError(
                            partition_index=state.partition_index,
                            error_code=code(
                                TopicPartition(topic.topic_name, state.partition_index)
                            ),
                        )
                        for state in topic.partition_states
                    ],
                )
                for topic in request.topic_states
            ]
        )

    def _stop_replica(self, broker: int, request: StopReplicaRequest) -> StopReplicaResponse:
        code = ErrorCode.KAFKA_STORAGE_ERROR if broker in self.undeletable else ErrorCode.NONE
        return StopReplicaResponse(
            partition_errors=[
                StopReplicaPartitionError(
                    topic_name=topic.topic_name,
                    partition_index=state.partition_index,
                    error_code=code,
                )
                for topic in request.topic_states
                for state in topic.partition_states
            ]
        )

    def take(self) -> list[tuple[int, str]]:
        """Who heard which kind of request since the last time, in order."""
        heard = [(broker, type(request).__name__[:-7]) for broker, request in self.requests]
        self.requests.clear()
        return heard

    def of(self, kind: type[M], broker: int | None = None) -> list[M]:
        return [
            request
            for to, request in self.requests
            if isinstance(request, kind) and broker in (None, to)
        ]

    def told_leaders(self, broker: int) -> dict[TopicPartition, tuple[int, int, bool]]:
        """Of the LeaderAndIsr requests: leader, leader epoch, whether it is new."""
        return {
            TopicPartition(topic.topic_name, s.partition_index): (
                s.leader,
                s.leader_epoch,
                s.is_new,
            )
            for request in self.of(LeaderAndIsrRequest, broker)
            for topic in request.topic_states
            for s in topic.partition_states
        }

    def known_leaders(self, broker: int) -> dict[TopicPartition, int]:
        """Of the UpdateMetadata requests."""
        return {
            TopicPartition(topic.topic_name, s.partition_index): s.leader
            for request in self.of(UpdateMetadataRequest, broker)
            for topic in request.topic_states
            for s in topic.partition_states
        }


class ManualTimer:
    def __init__(self) -> None:
        self.calls: list[tuple[int, Callable[[], None]]] = []

    def call_after(self, delay_ms: int, callback: Callable[[], None]) -> object:
        self.calls.append((delay_ms, callback))
        return None

    def now_ns(self) -> int:
        return 0


class StoppedClock:
    def __init__(self, at_ms: int = START_MS) -> None:
        self.at_ms = at_ms

    def now_ms(self) -> int:
        return self.at_ms


def described(broker: int, *, rack: str | None = None) -> BrokerRegistration:
    return BrokerRegistration(
        endpoints=(Endpoint("PLAINTEXT", "127.0.0.1", 49192 + broker),),
        security_protocols={"PLAINTEXT": "PLAINTEXT"},
        timestamp_ms=START_MS,
        rack=rack,
    )


class Broker:
    """One broker's session, registration and controller."""

    def __init__(self, cluster: Cluster, broker_id: int) -> None:
        self.id = broker_id
        self.store = MemoryStore(cluster.tree)
        self.timer = ManualTimer()
        self.registration = Registration(self.store, broker_id, lambda: described(broker_id))
        self.controller = Controller(
            ControllerSettings(
                broker_id=broker_id,
                inter_broker_listener="PLAINTEXT",
                unclean_allowed=lambda topic: topic in cluster.unclean,
                new_topic_id=cluster.new_topic_id,
                delete_topic_enable=cluster.delete_topic_enable,
            ),
            store=self.store,
            brokers=cluster.brokers,
            register=self.registration.register,
            timer=self.timer,
            clock=StoppedClock(),
        )
        self.task: asyncio.Task[None] | None = None


class Cluster:
    """`group` owns the controllers' tasks."""

    def __init__(self, group: asyncio.TaskGroup, tree: MemoryTree | None = None) -> None:
        self.tree = tree or MemoryTree()
        self.brokers = RecordingBrokers()
        self.running: dict[int, Broker] = {}
        self.unclean: dict[str, None] = {}
        self.delete_topic_enable = True
        self.drawn: list[bytes] = []  # the next topic ids
        self._group = group
        self._ids = count(1)
        self.admin = MemoryStore(self.tree)

    def new_topic_id(self) -> bytes:
        return self.drawn.pop() if self.drawn else next(self._ids).to_bytes(16)

    async def start(self, broker_id: int, *, with_controller: bool = True) -> Broker:
        await create_roots(self.admin)
        broker = self.running[broker_id] = Broker(self, broker_id)
        await broker.registration.register()
        if with_controller:
            broker.task = self._group.create_task(broker.controller.run())
        await self.settled()
        return broker

    async def kill(self, broker_id: int) -> None:
        """Its session ends; its controller is gone with it."""
        broker = self.running.pop(broker_id)
        if broker.task:
            broker.task.cancel()
        await broker.store.close()
        await self.settled()

    async def settled(self) -> None:
        """Twice, for what one controller writes another may hear."""
        for _ in range(2):
            for broker in self.running.values():
                if broker.task:
                    await broker.controller.settled()

    @property
    def active(self) -> Controller:
        return next(b.controller for b in self.running.values() if b.controller.is_active)

    async def create(
        self,
        name: str,
        assignment: Mapping[int, list[int]],
        configs: Mapping[str, str] | None = None,
    ) -> CreatedTopic:
        topic = manual_topic(name, assignment, configs)
        results = await create_topics(self.active, [topic], self.rules(), validate_only=False)
        await self.settled()
        return results[0]

    def rules(self) -> TopicRules:
        return TopicRules(
            check_config=lambda name, configs: None,
            check_policy=lambda plan: None,
            default_partitions=lambda: 1,
            default_replication_factor=lambda: 1,
            new_topic_id=self.new_topic_id,
            draw=lambda below: 0,
        )

    async def state(self, topic: str, partition: int) -> PartitionState:
        path = paths.partition_state(topic, partition)
        entry = await self.admin.read(path)
        if entry is None:
            raise NoNode(path)
        return PartitionState.decode(entry.data, path)

    async def data(self, path: str) -> bytes | None:
        entry = await self.admin.read(path)
        return None if entry is None else entry.data


def manual_topic(
    name: str, assignment: Mapping[int, list[int]], configs: Mapping[str, str] | None = None
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in assignment.items()
        ],
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )


@asynccontextmanager
async def cluster(brokers: int = 1, *, tree: MemoryTree | None = None) -> AsyncIterator[Cluster]:
    """Broker 1 is controller; the others compete when it is gone."""
    async with asyncio.TaskGroup() as group:
        made = Cluster(group, tree)
        for broker_id in range(1, brokers + 1):
            await made.start(broker_id)
        made.brokers.requests.clear()
        yield made
        for broker in made.running.values():
            if broker.task:
                broker.task.cancel()
