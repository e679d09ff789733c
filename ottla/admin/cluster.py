"""A cluster as an administrator meets it: found from one address, each request at the right broker.

What passes by itself (another controller, another leader, a broker just gone) is tried again,
a limited number of times; every other refusal goes back to whoever asked.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, TypeVar

from ottla.admin.addresses import Address, parse_bootstrap
from ottla.network.client import BrokerClient, connect
from ottla.protocol.apis.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message

DEFAULT_TIMEOUT_MS = 30_000
_ATTEMPTS = 8  # seven seconds in all
DEFAULT_BACKOFF_MS = 100
_LONGEST_BACKOFF_MS = 2_000
_NEWEST = 0x7FFF
# The broker asked does not lead, or does not know yet: metadata a moment later says who does.
_LEADER_MOVED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)

A = TypeVar("A", bound=Message)
T = TypeVar("T")


class Unreachable(OSError):
    """None of the brokers that could answer did."""


class NoController(OSError):
    """The cluster answers, but nobody who may change it was found in time."""


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


# Asks one leader about its partitions.
LeaderQuestion = Callable[
    [int, list[TopicPartition]], Awaitable[Mapping[TopicPartition, T | KafkaError]]
]


class Cluster:
    """Use it with `async with`: it connects when first asked, and closes all at the end."""

    def __init__(
        self,
        bootstrap: str,
        *,
        client_id: str = "ottla",
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        backoff_ms: int = DEFAULT_BACKOFF_MS,
    ) -> None:
        # What a broker may take. We wait longer, so that its own "timed out" still reaches us.
        self.operation_timeout_ms = timeout_ms * 5 // 6
        self._timeout_ms = timeout_ms
        self._bootstrap = parse_bootstrap(bootstrap)
        self._client_id = client_id
        self._backoff_ms = backoff_ms
        self._clients: dict[Address, BrokerClient] = {}
        self._connecting: dict[Address, asyncio.Lock] = {}
        self._brokers: dict[int, Address] = {}
        self._controller_id = -1

    async def __aenter__(self) -> Cluster:
        return self

    async def __aexit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            client.close()

    async def metadata(self, topics: Sequence[str] | None = None) -> MetadataResponse:
        """Of these topics, or of all; no topic is made by asking. Renews what the cluster knows."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        # Version 4 is the first that can say so: older brokers would make the topic.
        answer = await self.ask_any(request, MetadataResponse, at_least=4)
        self._brokers = {each.node_id: Address(each.host, each.port) for each in answer.brokers}
        self._controller_id = answer.controller_id
        return answer

    async def broker_ids(self) -> list[int]:
        await self.metadata([])
        return sorted(self._brokers)

    async def ask_any(
        self, request: Message, answer: type[A], *, at_least: int = 0, at_most: int = _NEWEST
    ) -> A:
        """Whichever broker answers. It may be asked twice, so what is asked must bear that."""
        causes: dict[Address, str] = {}
        connected = [address for address, client in self._clients.items() if client.is_open]
        others = dict.fromkeys((*self._bootstrap, *self._brokers.values()))
        # An old connection may prove dead only now: its broker gets a second chance on a new one.
        for address in (*connected, *others):
            try:
                client = await self._client(address)
                return await _ask(client, request, answer, at_least=at_least, at_most=at_most)
            except OSError as cause:
                causes[address] = _reason(cause)
        told = "; ".join(f"{address} ({why})" for address, why in causes.items())
        raise Unreachable(f"no broker answers at {told}")

    async def ask_broker(
        self,
        broker_id: int,
        request: Message,
        answer: type[A],
        *,
        at_least: int = 0,
        at_most: int = _NEWEST,
    ) -> A:
        client = await self._client(await self._address_of(broker_id))
        return await _ask(client, request, answer, at_least=at_least, at_most=at_most)

    async def ask_controller(
        self,
        request: Message,
        answer: type[A],
        codes: Callable[[A], Iterable[int]],
        *,
        at_most: int = _NEWEST,
    ) -> A:
        """`codes` finds the error codes in the answer: NOT_CONTROLLER sends the request on."""
        failure = ""
        for attempt in range(_ATTEMPTS):
            await self.back_off(attempt)
            await self.metadata([])
            if self._controller_id not in self._brokers:
                failure = "the cluster has no controller"
                continue
            try:
                client = await self._client(self._brokers[self._controller_id])
            except OSError as cause:  # nothing was asked yet, so asking again is safe
                failure = f"the controller cannot be reached ({_reason(cause)})"
                continue
            given = await _ask(client, request, answer, at_most=at_most)
            if ErrorCode.NOT_CONTROLLER not in codes(given):
                return given
            failure = f"broker {self._controller_id} says that it is not the controller"
        raise NoController(f"{failure}, after {_ATTEMPTS} attempts")

    async def ask_leaders(
        self, partitions: Sequence[TopicPartition], ask: LeaderQuestion[T]
    ) -> dict[TopicPartition, T | KafkaError]:
        """`ask` gets a leader and its partitions, again if the leader moved: it must bear that."""
        results: dict[TopicPartition, T | KafkaError] = {}
        unanswered = list(partitions)
        for attempt in range(_ATTEMPTS):
            await self.back_off(attempt)
            leaders, leaderless = await self._leaders(unanswered)
            results |= leaderless
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_ask_leader(ask, leader, led))
                    for leader, led in leaders.items()
                ]
            for task in tasks:
                results |= task.result()
            unanswered = [each for each in unanswered if _may_pass(results[each])]
            if not unanswered:
                break
        return {partition: results[partition] for partition in partitions}

    async def back_off(self, attempt: int) -> None:
        """Before the first attempt not at all, then twice as long each time."""
        if attempt:
            wait_ms = min(self._backoff_ms * 2 ** (attempt - 1), _LONGEST_BACKOFF_MS)
            await asyncio.sleep(wait_ms / 1000)

    async def _leaders(
        self, partitions: Sequence[TopicPartition]
    ) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, KafkaError]]:
        """The partitions by leader, and why the others have none."""
        metadata = await self.metadata(list(dict.fromkeys(each.topic for each in partitions)))
        found = {
            TopicPartition(topic.name or "", each.partition_index): each.leader_id
            for topic in metadata.topics
            for each in topic.partitions
        }
        leaders: dict[int, list[TopicPartition]] = {}
        leaderless: dict[TopicPartition, KafkaError] = {}
        for partition in partitions:
            if partition not in found:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                leaderless[partition] = KafkaError(code, f"there is no {partition}")
            elif found[partition] not in self._brokers:
                code = ErrorCode.LEADER_NOT_AVAILABLE
                leaderless[partition] = KafkaError(code, f"{partition} has no leader just now")
            else:
                leaders.setdefault(found[partition], []).append(partition)
        return leaders, leaderless

    async def _address_of(self, broker_id: int) -> Address:
        if broker_id not in self._brokers:
            await self.metadata([])
        if broker_id not in self._brokers:
            known = ", ".join(map(str, sorted(self._brokers)))
            detail = f"there is no broker {broker_id}; the cluster has {known}."
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, detail)
        return self._brokers[broker_id]

    async def _client(self, address: Address) -> BrokerClient:
        # Two tasks that want the same broker must end up with one connection.
        async with self._connecting.setdefault(address, asyncio.Lock()):
            client = self._clients.get(address)
            if client is None or not client.is_open:
                self._clients.pop(address, None)
                client = await connect(
                    *address, client_id=self._client_id, timeout_ms=self._timeout_ms
                )
                self._clients[address] = client
            return client


async def together(questions: Iterable[Awaitable[T]]) -> list[T]:
    """All answers, in order. A refusal is raised when the others have ended: nothing runs on."""
    answers = await asyncio.gather(*questions, return_exceptions=True)
    sound = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        sound.append(answer)
    return sound


async def _ask(
    client: BrokerClient,
    request: Message,
    answer: type[A],
    *,
    at_least: int = 0,
    at_most: int = _NEWEST,
) -> A:
    version = client.pick_version(type(request), at_least=at_least, at_most=at_most)
    given = await client.request(request, version=version)
    assert isinstance(given, answer)
    return given


async def _ask_leader(
    ask: LeaderQuestion[T], leader: int, partitions: list[TopicPartition]
) -> Mapping[TopicPartition, T | KafkaError]:
    """A leader that is gone or refuses is news of its partitions, not the end of the question."""
    try:
        return await ask(leader, partitions)
    except KafkaError as refusal:
        return dict.fromkeys(partitions, refusal)
    except OSError as cause:
        detail = f"broker {leader} leads it and cannot be reached ({_reason(cause)})"
        return dict.fromkeys(partitions, KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, detail))


def _may_pass(result: object) -> bool:
    return isinstance(result, KafkaError) and result.code in _LEADER_MOVED


def _reason(cause: OSError) -> str:
    # What asyncio says of a failed connection repeats the address, and not why.
    return os.strerror(cause.errno).lower() if cause.errno else str(cause)
