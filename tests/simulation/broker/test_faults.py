"""Disks that are full or fail: who hears of it, and who does not."""

from __future__ import annotations

import asyncio

from ottla.network.client import BrokerClient
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import LOG_DIR, START_MS, SimulatedMachine
from tests.simulation.broker.conversation import (
    HOUR_MS,
    Idempotent,
    create_topic,
    delete_topic,
    fetch,
    produce,
    read_all,
)
from tests.simulation.broker.machines import on_a_broker

PRODUCER = 9


@on_a_broker()
async def test_a_full_disk_refuses_an_append_and_a_retry_is_no_duplicate(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a", idempotent=Idempotent(PRODUCER, 0))
    machine.disk.fill_up()
    for _ in range(2):
        refused = await produce(client, "orders", b"b", idempotent=Idempotent(PRODUCER, 1))
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert refused.base_offset == -1
    assert await read_all(client, "orders") == [b"a"]
    machine.disk.make_room()
    again = await produce(client, "orders", b"b", idempotent=Idempotent(PRODUCER, 1))
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, 1)
    once_more = await produce(client, "orders", b"b", idempotent=Idempotent(PRODUCER, 1))
    assert (once_more.error_code, once_more.base_offset) == (ErrorCode.NONE, 1)
    assert await read_all(client, "orders") == [b"a", b"b"]
    assert machine.broker.directories.offline == {}


@on_a_broker()
async def test_a_topic_that_has_no_room_is_led_when_it_has(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    before = machine.disk.names("/data")
    machine.disk.fill_up()
    assert await create_topic(client, "orders", partitions=3) is ErrorCode.KAFKA_STORAGE_ERROR
    assert await create_topic(client, "orders") is ErrorCode.TOPIC_ALREADY_EXISTS
    await asyncio.sleep(60)
    assert machine.disk.names("/data") == before
    assert (await produce(client, "orders", b"a")).error_code
    machine.disk.make_room()
    await asyncio.sleep(3)
    for partition in range(3):
        answer = await produce(client, "orders", b"a", partition=partition)
        assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    assert not machine.broker.leadership.refused


@on_a_broker()
async def test_a_topic_that_never_had_room_can_be_deleted(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    machine.disk.fill_up()
    assert await create_topic(client, "orders", partitions=3) is ErrorCode.KAFKA_STORAGE_ERROR
    await delete_topic(client, "orders")
    machine.disk.make_room()
    await asyncio.sleep(60)
    assert not machine.broker.leadership.refused
    assert not {f"orders-{index}" for index in range(3)} & {*machine.disk.names("/data")}
    assert await create_topic(client, "orders") is ErrorCode.NONE
    assert not (await produce(client, "orders", b"a")).error_code


@on_a_broker()
async def test_a_start_on_a_full_disk_leads_what_is_there(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    machine.disk.fill_up()
    await create_topic(client, "later")
    await machine.kill()
    await machine.start()
    client = await machine.connect()
    assert await read_all(client, "orders") == []
    assert (await produce(client, "later", b"a")).error_code
    machine.disk.make_room()
    await asyncio.sleep(3)
    assert not (await produce(client, "later", b"a")).error_code


@on_a_broker()
async def test_a_stop_on_a_full_disk_leaves_nothing_locked(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a")
    machine.disk.fill_up()
    await machine.stop()
    machine.disk.make_room()
    broker = await machine.start()
    assert not broker.directories.online[LOG_DIR].was_clean
    assert await read_all(await machine.connect(), "orders") == [b"a"]


@on_a_broker()
async def test_a_disk_that_is_full_when_it_is_to_be_synced_is_synced_later(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders", flush_messages="1")
    machine.threads.delay_ms = (50, 50)
    work = asyncio.ensure_future(produce(client, "orders", b"a", timeout_ms=1_000))
    await asyncio.sleep(0.01)
    machine.disk.fill_up()
    assert (await work).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert await read_all(client, "orders") == []
    machine.disk.make_room()
    answer = await produce(client, "orders", b"b")
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 1)
    assert await read_all(client, "orders") == [b"a", b"b"]
    await machine.crash()
    await machine.start()
    assert await read_all(await machine.connect(), "orders") == [b"a", b"b"]


@on_a_broker()
async def test_all_who_shared_the_lost_write_hear_of_it(machine: SimulatedMachine) -> None:
    clients = [await machine.connect() for _ in range(3)]
    await create_topic(clients[0], "orders")
    for client in clients:
        await produce(client, "orders", b"before")
    machine.disk.fill_up()
    works = [asyncio.ensure_future(produce(each, "orders", b"lost")) for each in clients]
    errors = [(await work).error_code for work in works]
    assert errors == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    machine.disk.make_room()
    works = [asyncio.ensure_future(produce(each, "orders", b"after")) for each in clients]
    assert sorted([(await work).base_offset for work in works]) == [3, 4, 5]


async def spread(machine: SimulatedMachine, client: BrokerClient) -> dict[str, int]:
    """Which of the partitions lies in which directory."""
    await create_topic(client, "orders", partitions=2)
    directories = machine.broker.directories.online.values()
    return {each.path: index for each in directories for _, index in each.folders}


@on_a_broker(log_dirs="/a,/b")
async def test_a_failing_disk_takes_its_own_directory_and_no_other(
    machine: SimulatedMachine,
) -> None:
    client, waiting = await machine.connect(), await machine.connect()
    partitions = await spread(machine, client)
    broken, whole = partitions["/a"], partitions["/b"]
    for partition in (broken, whole):
        await produce(client, "orders", b"a", partition=partition)
    fetched = asyncio.ensure_future(fetch(waiting, "orders", offset=1, partition=broken))
    await asyncio.sleep(1)
    machine.disk.break_file("/a")
    refused = await produce(client, "orders", b"b", partition=broken)
    assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (await fetched).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert list(machine.broker.directories.offline) == ["/a"]
    assert (await produce(client, "orders", b"b", partition=whole)).base_offset == 1
    assert await read_all(client, "orders", partition=whole) == [b"a", b"b"]
    read = await fetch(client, "orders", partition=broken, max_wait_ms=HOUR_MS)
    assert read.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    await machine.stop()
    await machine.start()
    assert list(machine.broker.directories.offline) == ["/a"]
    assert await read_all(await machine.connect(), "orders", partition=whole) == [b"a", b"b"]


@on_a_broker(log_dirs="/a,/b", log_flush_interval_ms="1000")
async def test_a_disk_that_fails_while_it_is_flushed_is_found_out(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    partitions = await spread(machine, client)
    for partition in (0, 1):
        await produce(client, "orders", b"a", partition=partition)
    machine.disk.break_file("/a")
    await asyncio.sleep(10)
    assert list(machine.broker.directories.offline) == ["/a"]
    read = await fetch(client, "orders", partition=partitions["/a"])
    assert read.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert await read_all(client, "orders", partition=partitions["/b"]) == [b"a"]


@on_a_broker(log_dirs="/a,/b")
async def test_a_disk_that_fails_while_it_is_read_is_found_out(machine: SimulatedMachine) -> None:
    client, other = await machine.connect(), await machine.connect()
    partitions = await spread(machine, client)
    for partition in (0, 1):
        await produce(client, "orders", b"a", partition=partition)
    machine.disk.break_file("/a")
    read = await fetch(client, "orders", partition=partitions["/a"])
    assert read.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert list(machine.broker.directories.offline) == ["/a"]
    assert await read_all(other, "orders", partition=partitions["/b"]) == [b"a"]


@on_a_broker(log_dirs="/a,/b")
async def test_a_disk_that_fails_while_an_offset_is_looked_up_is_found_out(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    partitions = await spread(machine, client)
    for partition in (0, 1):
        await produce(client, "orders", b"a", partition=partition)
    machine.disk.break_file("/a")
    asked = ListOffsetsPartition(partition_index=partitions["/a"], timestamp=START_MS)
    topic = ListOffsetsTopic(name="orders", partitions=[asked])
    answer = await client.request(ListOffsetsRequest(replica_id=-1, topics=[topic]))
    assert isinstance(answer, ListOffsetsResponse)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert list(machine.broker.directories.offline) == ["/a"]
