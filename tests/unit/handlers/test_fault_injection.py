"""Faults between a connection and the service behind it, on virtual time."""

from __future__ import annotations

import asyncio
from struct import pack
from types import SimpleNamespace
from typing import cast

from ottla.handlers.fault_injection import FaultInjection
from ottla.handlers.faults import Fault, Faults
from ottla.handlers.request_counts import RequestCounts
from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.network.memory import RequestMemory
from ottla.protocol.apis.list_offsets import ListOffsetsRequest
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.schema import Message
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time, virtual_loop

PRODUCE, LIST_OFFSETS = 0, 2
ERROR = Fault(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)


class Echo:
    """Answers each request at once with its correlation id, in four bytes."""

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        connection.answer([bytes(connection.view[start + 4 : start + 8])])
        return True


class Client:
    """One connection to an echo behind faults."""

    def __init__(self) -> None:
        loop = virtual_loop()
        self.faults = Faults()
        self.tick = Tick(loop.call_soon)
        self.counts = RequestCounts()
        services = SimpleNamespace(timer=Timer(loop), requests=self.counts)
        self.connection = Connection(
            FaultInjection(Echo(), cast(Services, services), self.faults),
            self.tick,
            RequestMemory(),
            number=1,
            listener="PLAINTEXT",
            peer="127.0.0.1:1",
            max_request_bytes=1_000_000,
        )
        self.connection.send = lambda: None
        self.connection.shut = lambda: None

    def ask(self, request: Message, correlation_id: int, *, version: int) -> None:
        self.send(encode_request(request, version, correlation_id=correlation_id, client_id="c"))

    def send(self, frame: bytes) -> None:
        space = self.connection.space()
        assert space is not None
        space[: len(frame)] = frame
        self.connection.received(len(frame))

    def produce(self, correlation_id: int, *, acks: int = 1) -> None:
        partition = PartitionProduceData(index=3, records=b"")
        topic = TopicProduceData(name="orders", partition_data=[partition])
        request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])
        self.ask(request, correlation_id, version=9)

    def list_offsets(self, correlation_id: int) -> None:
        self.ask(ListOffsetsRequest(replica_id=-1, topics=[]), correlation_id, version=1)

    def answers(self) -> list[int]:
        """The correlation ids so far, those of refusals as negative numbers."""
        return [
            int.from_bytes(answer) if len(answer) == 4 else -int.from_bytes(answer[4:8])
            for answer in map(bytes, cast("list[bytes]", list(self.connection.outgoing)))
        ]


@on_virtual_time
async def test_an_error_is_told_in_the_form_of_the_api() -> None:
    client = Client()
    client.faults.add(PRODUCE, ERROR, count=1)
    client.produce(7)
    (answer,) = client.connection.outgoing
    decoded = decode_response(cast(bytes, answer)[4:], api_key=PRODUCE, version=9)
    assert decoded.header.correlation_id == 7
    assert isinstance(decoded.body, ProduceResponse)
    (topic,) = decoded.body.responses
    (partition,) = topic.partition_responses
    assert (topic.name, partition.index) == ("orders", 3)
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert client.counts.by_version == {(PRODUCE, 9): 1}


@on_virtual_time
async def test_a_fault_is_used_as_often_as_was_asked_and_by_its_api_only() -> None:
    client = Client()
    client.faults.add(LIST_OFFSETS, ERROR, count=2)
    for number in range(1, 4):
        client.produce(number)
        client.list_offsets(10 + number)
    assert client.answers() == [1, -11, 2, -12, 3, 13]


@on_virtual_time
async def test_a_delayed_request_holds_back_those_behind_it() -> None:
    client = Client()
    client.faults.add(PRODUCE, Fault(delay_ms=200), count=1)
    client.produce(1)
    client.produce(2)
    client.list_offsets(3)
    await asyncio.sleep(0.199)
    assert client.answers() == []
    await asyncio.sleep(0.002)
    assert client.answers() == [1, 2, 3]


@on_virtual_time
async def test_a_request_can_be_delayed_and_then_refused() -> None:
    client = Client()
    client.faults.add(PRODUCE, Fault(error=ErrorCode.REQUEST_TIMED_OUT, delay_ms=200), count=1)
    client.produce(1)
    client.produce(2)
    await asyncio.sleep(0.3)
    assert client.answers() == [-1, 2]


@on_virtual_time
async def test_a_dropped_request_ends_its_connection_and_is_not_served() -> None:
    client = Client()
    client.faults.add(LIST_OFFSETS, Fault(drops=True), count=1)
    client.list_offsets(1)
    assert client.connection.is_closed
    assert not client.connection.outgoing


@on_virtual_time
async def test_a_refused_produce_that_wants_no_answer_ends_its_connection() -> None:
    client = Client()
    client.faults.add(PRODUCE, ERROR, count=1)
    client.produce(1, acks=0)
    assert client.connection.is_closed


@on_virtual_time
async def test_a_client_that_leaves_during_a_delay_leaves_nothing_behind() -> None:
    client = Client()
    client.faults.add(PRODUCE, Fault(delay_ms=200), count=2)
    client.produce(1)
    client.connection.close()
    await asyncio.sleep(0.3)
    assert client.faults.waiting() == {PRODUCE: 1}
    client.faults.clear()
    assert client.faults.waiting() == {}


@on_virtual_time
async def test_a_version_that_is_not_served_meets_no_fault() -> None:
    client = Client()
    client.faults.add(LIST_OFFSETS, ERROR, count=1)
    client.send(pack(">ihhi", 8, LIST_OFFSETS, 99, 5))
    assert client.answers() == [5]
    assert client.faults.waiting() == {LIST_OFFSETS: 1}
