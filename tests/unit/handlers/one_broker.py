"""A whole broker on virtual time, a disk and a store in memory, and a client that speaks to it."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar

from ottla.broker.broker import Broker
from ottla.broker.ports import Ports
from ottla.config.broker_config import BrokerConfig
from ottla.handlers import HANDLERS
from ottla.network.connection import Connection
from ottla.network.memory import RequestMemory
from ottla.network.pieces import FilePiece
from ottla.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from ottla.protocol.framing import decode_response, encode_request, split_frames
from ottla.protocol.schema import Message
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.clock import VirtualClock
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.network import SimulatedNetwork
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.storage.threads import Inline
from ottla.store.port import MetadataStore
from tests.virtual_time import virtual_loop

NOW_MS = 1_700_000_000_000
M = TypeVar("M", bound=Message)


class SeededRandomness:
    def __init__(self) -> None:
        self._source = random.Random(7)

    def bytes(self, count: int) -> bytes:
        return self._source.randbytes(count)

    def below(self, limit: int) -> int:
        return self._source.randrange(limit)


class Client:
    """One connection, without a socket: frames in, answers out, in order."""

    def __init__(self, broker: Broker) -> None:
        self.connection = Connection(
            broker.dispatch,
            broker.tick,
            RequestMemory(),
            number=1,
            listener="PLAINTEXT",
            peer="test:1",
            max_request_bytes=100_000_000,
        )
        self.connection.send = self._take
        self.connection.shut = lambda: None
        self._received = bytearray()
        self._expected: deque[tuple[int, int]] = deque()
        self._waiting: deque[asyncio.Future[Message]] = deque()
        self.raw: list[bytes] = []

    def ask(self, request: Message, version: int | None = None) -> asyncio.Future[Message]:
        """The answer comes when the broker gives it."""
        version = HANDLERS[request.api_key][1] if version is None else version
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._expected.append((request.api_key, version))
        self._waiting.append(answer)
        self.send(encode_request(request, version, correlation_id=77, client_id="test"))
        return answer

    def send(self, data: bytes) -> None:
        while data:
            space = self.connection.space()
            assert space is not None
            count = min(len(space), len(data))
            space[:count] = data[:count]
            data = data[count:]
            self.connection.received(count)

    def _take(self) -> None:
        self.connection.is_sending = False
        outgoing = self.connection.outgoing
        while outgoing:
            piece = outgoing.popleft()
            if isinstance(piece, FilePiece):
                self._received += piece.read()
                piece.release()
            else:
                self._received += piece
        for frame in split_frames(bytes(self._received)):
            key, version = self._expected.popleft()
            self.raw.append(bytes(frame))
            response = decode_response(frame, api_key=key, version=version)
            assert response.trailing_bytes == 0
            self._waiting.popleft().set_result(response.body)
        self._received.clear()


class OneBroker:
    """What a test has of it."""

    def __init__(self, broker: Broker, disk: SimulatedDisk, store: MemoryStore) -> None:
        self.broker = broker
        self.services = broker.services
        self.disk = disk
        self.store = store
        self.client = Client(broker)

    async def ask(self, request: Message, answer: type[M], version: int | None = None) -> M:
        response = await self.client.ask(request, version)
        assert isinstance(response, answer)
        return response

    async def create(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        request = CreateTopicsRequest(topics=[topic(name, partitions, configs=configs)])
        response = await self.ask(request, CreateTopicsResponse)
        assert [each.error_code for each in response.topics] == [0], response.topics
        await self.settled()

    async def settled(self) -> None:
        await self.broker.controller.settled()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Virtual time goes on until it is so."""
        for _ in range(100_000):
            if condition():
                return
            await asyncio.sleep(0.001)
        raise AssertionError("it never came to be so")


def topic(
    name: str,
    partitions: int = 1,
    *,
    replication_factor: int = 1,
    assignment: dict[int, list[int]] | None = None,
    configs: Mapping[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=-1 if assignment else partitions,
        replication_factor=-1 if assignment else replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignment or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )


async def lead(broker: OneBroker, name: str, *, leader: int, epoch: int) -> None:
    """As the controller would, for every partition of the topic."""
    topic = broker.services.metadata.image.topics[name]
    states = [
        LeaderAndIsrPartitionState(
            partition_index=index,
            controller_epoch=1,
            leader=leader,
            leader_epoch=epoch,
            isr=[leader],
            partition_epoch=epoch,
            replicas=[1, 2],
        )
        for index in range(len(topic.partitions))
    ]
    request = LeaderAndIsrRequest(
        controller_id=1,
        controller_epoch=1,
        topic_states=[
            LeaderAndIsrTopicState(
                topic_name=name, topic_id=topic.topic_id, partition_states=states
            )
        ],
        live_leaders=[LeaderAndIsrLiveLeader(broker_id=1, host_name="", port=1)],
    )
    response = await broker.ask(request, LeaderAndIsrResponse, 5)
    assert response.error_code == 0


@asynccontextmanager
async def one_broker(
    properties: dict[str, str] | None = None,
    *,
    disk: SimulatedDisk | None = None,
    tree: MemoryTree | None = None,
) -> AsyncIterator[OneBroker]:
    """Nobody connects to it: the client has a connection without a socket."""
    clock = VirtualClock(virtual_loop(), start_ms=NOW_MS)
    disk = disk or SimulatedDisk(random.Random(1), now_ms=clock.now_ms)
    store = MemoryStore(tree or MemoryTree())

    @asynccontextmanager
    async def open_store(path: str) -> AsyncIterator[MetadataStore]:
        yield store
        await store.close()

    config = BrokerConfig.load(
        {
            "broker.id": "1",
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": "/data/a,/data/b",
            "offsets.topic.replication.factor": "1",
            "ottla.http.port": "-1",
        }
        | (properties or {})
    )
    ports = Ports(
        clock=clock,
        spent_s=virtual_loop().spent_s,
        disk=disk,
        background=Inline(),
        randomness=SeededRandomness(),
        open_store=open_store,
        sockets=SimulatedNetwork(virtual_loop(), random.Random(2)).host("localhost"),
        hostname=lambda: "localhost",
        new_cleaner=lambda: InlineCleaner(disk),
    )
    async with Broker(config, ports) as broker:
        yield OneBroker(broker, disk, store)
