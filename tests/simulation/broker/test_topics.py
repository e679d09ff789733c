"""Topics that are made and deleted: who waits until all know of it, and who gives up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ottla.broker.metering import gather
from ottla.protocol.apis.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import LOG_DIR, SimulatedMachine
from ottla.store.port import Entry, Operation
from tests.simulation.broker.conversation import (
    HOUR_MS,
    create_topic,
    delete_topic,
    fetch,
    produce,
    read_all,
)
from tests.simulation.broker.machines import on_a_broker
from tests.simulation.broker.test_waiting import log_of, now_ms


@on_a_broker()
async def test_a_topic_that_was_created_can_be_used_at_once(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    assert await create_topic(client, "orders", partitions=100) == ErrorCode.NONE
    for partition in (0, 99):
        answer = await produce(client, "orders", b"a", partition=partition)
        assert answer.error_code == ErrorCode.NONE
    assert await create_topic(client, "orders") == ErrorCode.TOPIC_ALREADY_EXISTS


@on_a_broker()
async def test_who_does_not_wait_for_a_topic_hears_so_and_it_comes(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    assert await create_topic(client, "orders", timeout_ms=0) == ErrorCode.REQUEST_TIMED_OUT
    await asyncio.sleep(1)
    assert (await produce(client, "orders", b"a")).error_code == ErrorCode.NONE


@on_a_broker()
async def test_a_topic_that_nobody_leads_is_waited_for_until_the_timeout(
    machine: SimulatedMachine,
) -> None:
    """The controller loses the store when the topic is written, so nobody is told."""
    client = await machine.connect()
    change = machine.tree.change

    def cut_after(operations: Sequence[Operation], session_id: int) -> list[Entry | None]:
        made = change(operations, session_id)
        if any(each.path == "/brokers/topics/orders" for each in operations):
            machine.store.cut_off()
        return made

    machine.tree.change = cut_after  # type: ignore[method-assign]
    assert await create_topic(client, "orders", timeout_ms=5_000) == ErrorCode.REQUEST_TIMED_OUT
    assert now_ms(machine) == 5_000
    machine.store.reconnect()
    await asyncio.sleep(1)
    assert (await produce(client, "orders", b"a")).error_code == ErrorCode.NONE


@on_a_broker()
async def test_a_deleted_topic_is_gone_and_those_who_wait_for_it_hear_so(
    machine: SimulatedMachine,
) -> None:
    client, reader = await machine.connect(), await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"old")
    waiting = asyncio.ensure_future(fetch(reader, "orders", offset=1))
    await asyncio.sleep(1)
    assert await delete_topic(client, "orders") == ErrorCode.NONE
    assert (await waiting).error_code in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    )
    assert now_ms(machine) == 1_000
    assert await delete_topic(client, "orders") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    await create_topic(client, "orders")
    assert await read_all(client, "orders") == []
    folders = machine.disk.names(LOG_DIR)
    assert [name for name in folders if name.endswith("-delete")]
    await asyncio.sleep(120)  # file.delete.delay.ms, and a while
    assert not [name for name in machine.disk.names(LOG_DIR) if name.endswith("-delete")]


@on_a_broker()
async def test_a_topic_that_clients_ask_for_appears(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    request = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
    errors = []
    for _ in range(3):
        answer = await client.request(request)
        assert isinstance(answer, MetadataResponse)
        errors.append(answer.topics[0].error_code)
        await asyncio.sleep(0.1)
    assert errors[0] in (ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert errors[-1] == ErrorCode.NONE


@on_a_broker()
async def test_who_does_not_wait_for_a_deletion_hears_so_and_it_goes(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    assert await delete_topic(client, "orders", timeout_ms=0) == ErrorCode.REQUEST_TIMED_OUT
    await asyncio.sleep(1)
    assert await delete_topic(client, "orders") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@on_a_broker()
async def test_nothing_is_kept_of_a_topic_that_is_gone(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    for number in range(3):
        await create_topic(client, "orders", retention_ms=str(1_000_000 + number))
        await produce(client, "orders", b"a")
        assert b'topic="orders"' in gather(machine.broker).render()
        assert machine.broker.overrides.topic_properties("orders")
        assert await delete_topic(client, "orders") == ErrorCode.NONE
        assert b'topic="orders"' not in gather(machine.broker).render()
        assert not machine.broker.overrides.topic_properties("orders")
    await create_topic(client, "orders")
    assert log_of(machine, "orders").config.retention_ms == 7 * 24 * HOUR_MS
