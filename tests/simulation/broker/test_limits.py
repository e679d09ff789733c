"""What clients may take: connections, memory, time; and who suffers from whom."""

from __future__ import annotations

import asyncio

import pytest

from ottla.network.client import BrokerClient, Disconnected
from ottla.network.connection import MOST_UNSENT
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.apis.metadata import MetadataRequest
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import PORT, SimulatedMachine
from ottla.simulation.transport import SimulatedTransport
from tests.simulation.broker.conversation import (
    FETCH_VERSION,
    FOLLOWER,
    create_topic,
    fetch,
    lead,
    produce,
    read_all,
    records_of,
)
from tests.simulation.broker.machines import on_a_broker

MANY = MetadataRequest(topics=None)


class Raw(asyncio.Protocol):
    """A client that only sends bytes, and counts what it gets."""

    def __init__(self, machine: SimulatedMachine, *, source: str = "10.0.0.1") -> None:
        self.received = 0
        self.lost = asyncio.Event()
        self.transport: SimulatedTransport
        machine.network.connect(self, (machine.name, PORT), source=source)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, SimulatedTransport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += len(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()


async def is_open(client: BrokerClient) -> bool:
    try:
        await client.request(MANY)
    except Disconnected:
        return False
    return True


@on_a_broker(max_connections="2")
async def test_more_than_max_connections_wait_until_one_leaves(machine: SimulatedMachine) -> None:
    first, second = await machine.connect(), await machine.connect()
    third = asyncio.ensure_future(machine.connect())
    await asyncio.sleep(60)
    assert not third.done()
    first.close()
    assert await is_open(await third)
    assert await is_open(second)
    assert len(machine.broker.server.connections) == 2


@on_a_broker(max_connections_per_ip="2", max_connections_per_ip_overrides="10.0.0.9:1")
async def test_each_address_has_its_own_limit(machine: SimulatedMachine) -> None:
    kept = [await machine.connect(source="10.0.0.1") for _ in range(2)]
    with pytest.raises(Disconnected):
        await machine.connect(source="10.0.0.1")
    kept.append(await machine.connect(source="10.0.0.9"))
    with pytest.raises(Disconnected):
        await machine.connect(source="10.0.0.9")
    kept.append(await machine.connect(source="10.0.0.2"))
    assert [await is_open(client) for client in kept] == [True] * 4
    assert machine.broker.server.admission.refused == 2
    kept[0].close()
    await asyncio.sleep(0.001)
    assert await is_open(await machine.connect(source="10.0.0.1"))


@on_a_broker(connections_max_idle_ms="60000")
async def test_who_is_silent_is_closed_and_who_waits_for_us_is_not(
    machine: SimulatedMachine,
) -> None:
    silent, busy, waiting = [await machine.connect() for _ in range(3)]
    await create_topic(busy, "orders")
    fetched = asyncio.ensure_future(fetch(waiting, "orders", max_wait_ms=150_000))
    for _ in range(4):
        await asyncio.sleep(40)
        assert await is_open(busy)
    assert not silent.is_open
    assert (await fetched).records == b""
    await asyncio.sleep(30)
    assert waiting.is_open  # its silence began with our answer
    await asyncio.sleep(60)
    assert not waiting.is_open


@on_a_broker(socket_request_max_bytes="1000")
async def test_a_request_that_is_too_large_closes_its_connection(machine: SimulatedMachine) -> None:
    client, other = await machine.connect(), await machine.connect()
    await create_topic(other, "orders")
    with pytest.raises(Disconnected):
        await produce(client, "orders", bytes(2_000))
    assert (await produce(other, "orders", bytes(500))).error_code == ErrorCode.NONE


@on_a_broker(
    latency_ms=(1, 5), queued_max_request_bytes="2000000", socket_request_max_bytes="2000000"
)
async def test_memory_for_large_requests_is_given_to_one_after_the_other(
    machine: SimulatedMachine,
) -> None:
    """All come through, and never is more taken than one request needs beyond the limit."""
    client = await machine.connect()
    await create_topic(client, "orders", max_message_bytes="2000000")
    memory = machine.broker.server.memory
    large = bytes(1_500_000)
    producers = [await machine.connect() for _ in range(4)]
    works = [asyncio.ensure_future(produce(each, "orders", large)) for each in producers]
    most = 0
    while not all(work.done() for work in works):
        most = max(most, memory.used_bytes)
        await asyncio.sleep(0.001)
    assert sorted([(await work).base_offset for work in works]) == [0, 1, 2, 3]
    assert 1_500_000 < most <= 4_000_000
    assert memory.used_bytes <= 2_000_000


@on_a_broker()
async def test_a_reader_that_never_reads_is_paused_and_others_go_on(
    machine: SimulatedMachine,
) -> None:
    lazy, other = await machine.connect(), await machine.connect()
    await create_topic(other, "orders", max_message_bytes="2000000")
    await produce(other, "orders", bytes(1_000_000))
    transport = lazy._transport
    assert isinstance(transport, SimulatedTransport)
    transport.pause_reading()
    reads = [asyncio.ensure_future(fetch(lazy, "orders", max_wait_ms=0)) for _ in range(100)]
    await asyncio.sleep(10)
    backed_up = [
        door.connection for door in machine.broker.server.connections.values()
        if door.connection.is_backed_up
    ]  # fmt: skip
    assert len(backed_up) == 1
    assert len(backed_up[0].outgoing) <= MOST_UNSENT + 3  # most requests were not even begun
    assert (await produce(other, "orders", b"b")).base_offset == 1
    assert len(await read_all(other, "orders")) == 2
    transport.resume_reading()
    assert [len(records_of(await read)) > 1_000_000 for read in reads] == [True] * 100
    assert not backed_up[0].is_backed_up


@on_a_broker()
async def test_a_client_that_goes_while_it_waits_leaves_nothing_behind(
    machine: SimulatedMachine,
) -> None:
    """Its buffer is full and blocked when the reset comes: nobody reads, but all must hear it."""
    controller = await machine.connect()
    await create_topic(controller, "orders")
    await lead(controller, "orders", isr=[0, FOLLOWER], leader_epoch=1)
    client = await machine.connect()
    parked = asyncio.ensure_future(fetch(client, "orders"))
    # Only to other fetches it does not give way; these are of some 40 KB each.
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topic = FetchTopic(topic="orders", partitions=[asked] * 2_000)
    large = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic])
    requests = [client.request(large, version=FETCH_VERSION) for _ in range(100)]
    behind = [asyncio.ensure_future(each) for each in requests]
    await asyncio.sleep(1)
    doors = machine.broker.server.connections.values()
    assert [each.connection.is_hungry for each in doors] == [True, False]
    client.close()
    await asyncio.sleep(1)
    assert len(machine.broker.server.connections) == 1
    assert machine.broker.server.memory.used_bytes == 0
    for each in (parked, *behind):
        with pytest.raises(Disconnected):
            await each


@on_a_broker()
async def test_a_client_that_sends_half_a_request_and_leaves_is_forgotten(
    machine: SimulatedMachine,
) -> None:
    raw = Raw(machine)
    raw.transport.write((50_000).to_bytes(4, "big") + bytes(40_000))
    await asyncio.sleep(1)
    assert len(machine.broker.server.connections) == 1
    raw.transport.close()
    await asyncio.sleep(1)
    assert machine.broker.server.connections == {}


@on_a_broker()
async def test_what_is_no_request_closes_its_connection(machine: SimulatedMachine) -> None:
    for frame in (b"\xff\xff\xff\xff", b"\0\0\0\2\0\0", b"\0\0\0\x08\x7f\xff\0\0\0\0\0\1"):
        raw = Raw(machine)
        raw.transport.write(frame)
        await raw.lost.wait()
        assert raw.received == 0
    assert machine.broker.server.connections == {}


@on_a_broker(latency_ms=(0, 50), seed=3)
async def test_a_slow_network_changes_nothing_but_the_time(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    values = [b"%d" % number * 100 for number in range(20)]
    works = [asyncio.ensure_future(produce(client, "orders", value)) for value in values]
    assert [(await work).base_offset for work in works] == list(range(20))
    assert await read_all(client, "orders") == values
