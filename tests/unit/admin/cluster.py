"""A cluster of scripted brokers: its metadata, and for each API what a test lets it answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from queue import Queue
from threading import Thread
from typing import TypeVar

from ottla.admin.cluster import Cluster
from ottla.protocol.apis.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import Request
from ottla.protocol.schema import Message
from tests.unit.network.broker import Answer, ScriptedBroker

T = TypeVar("T")
Topics = Mapping[str, Sequence[tuple[int, Sequence[int], Sequence[int]]]]
Handler = Callable[[int, Message], Message | None]


class ScriptedCluster:
    """Partitions are lists of (leader, replicas, in sync) by topic. Broker ids begin at 0."""

    def __init__(
        self,
        handler: Handler | None = None,
        *,
        brokers: int = 2,
        topics: Topics | None = None,
        versions: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        self.controller = 0
        self.topics: Topics = topics or {}
        self.asked: list[tuple[int, Message]] = []
        self._handler = handler or _nothing
        self.brokers = [
            ScriptedBroker(self._behaviour(number), versions=versions) for number in range(brokers)
        ]

    def run(self, work: Callable[[Cluster], Awaitable[T]], *, bootstrap: str = "") -> T:
        async def serve() -> T:
            async with AsyncExitStack() as stack:
                for broker in self.brokers:
                    await stack.enter_async_context(broker.running())
                first = bootstrap or self.brokers[0].address
                async with Cluster(first, backoff_ms=1) as cluster:
                    return await work(cluster)

        return asyncio.run(serve())

    @contextmanager
    def in_background(self) -> Iterator[str]:
        """Serves on a thread of its own, for a command that has a loop of its own."""
        ready: Queue[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Queue()

        async def serve() -> None:
            async with AsyncExitStack() as stack:
                for broker in self.brokers:
                    await stack.enter_async_context(broker.running())
                stop = asyncio.Event()
                ready.put((asyncio.get_running_loop(), stop))
                await stop.wait()

        thread = Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        loop, stop = ready.get()
        try:
            yield self.brokers[0].address
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()

    def kinds(self, broker: int | None = None) -> list[str]:
        """What was asked apart from metadata, of one broker or of all."""
        return [
            type(message).__name__.removesuffix("Request")
            for number, message in self.asked
            if broker in (None, number)
        ]

    def _behaviour(self, number: int) -> Callable[[Request], Answer]:
        def behave(request: Request) -> Answer:
            if isinstance(request.body, MetadataRequest):
                return self._metadata(request.body)
            self.asked.append((number, request.body))
            return self._handler(number, request.body)

        return behave

    def _metadata(self, request: MetadataRequest) -> MetadataResponse:
        assert not request.allow_auto_topic_creation
        wanted = self.topics if request.topics is None else [each.name for each in request.topics]
        brokers = [
            MetadataResponseBroker(node_id=number, host="127.0.0.1", port=broker.port)
            for number, broker in enumerate(self.brokers)
        ]
        return MetadataResponse(
            brokers=brokers,
            controller_id=self.controller,
            topics=[self._topic(name or "") for name in wanted],
        )

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name not in self.topics:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return MetadataResponseTopic(error_code=code, name=name, partitions=[])
        partitions = [
            MetadataResponsePartition(
                partition_index=index,
                leader_id=leader,
                replica_nodes=list(replicas),
                isr_nodes=list(in_sync),
            )
            for index, (leader, replicas, in_sync) in enumerate(self.topics[name])
        ]
        return MetadataResponseTopic(name=name, partitions=partitions, topic_id=b"t" * 16)


def _nothing(broker: int, message: Message) -> None:
    raise AssertionError(f"broker {broker} was asked {message}")
