"""Requests that wait: for data, for other replicas, for their deadline, and for nothing else."""

from __future__ import annotations

import asyncio

from ottla.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.record import Record
from ottla.simulation.broker import START_MS, SimulatedMachine
from ottla.storage.log import Log
from tests.simulation.broker.conversation import (
    FOLLOWER,
    HOUR_MS,
    batch,
    create_topic,
    fetch,
    lead,
    produce,
    produce_request,
    values_in,
)
from tests.simulation.broker.machines import on_a_broker
from tests.virtual_time import virtual_loop

PRODUCER = 77


def now_ms(machine: SimulatedMachine) -> int:
    return machine.clock.now_ms() - machine.clock.skew_ms - START_MS


def log_of(machine: SimulatedMachine, topic: str, partition: int = 0) -> Log:
    return machine.broker.replicas.get(topic, partition).local_log()


@on_a_broker()
async def test_a_fetch_with_nothing_to_read_waits_its_full_time(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    answer = await fetch(client, "orders", max_wait_ms=HOUR_MS)
    assert answer.records == b""
    assert now_ms(machine) == HOUR_MS


@on_a_broker()
async def test_a_waiting_fetch_costs_no_wakeups(machine: SimulatedMachine) -> None:
    """Within a minute the wheel turns for it once a level: the rest is the broker's upkeep."""
    client = await machine.connect()
    await create_topic(client, "orders")
    loop = virtual_loop()

    async def jumps(minutes: int) -> int:
        before = loop.jumps
        await asyncio.sleep(minutes * 60)
        return loop.jumps - before

    idle = await jumps(60)
    waiting = asyncio.ensure_future(fetch(client, "orders", max_wait_ms=2 * HOUR_MS))
    assert await jumps(60) <= idle + 5
    waiting.cancel()


@on_a_broker()
async def test_a_fetch_is_woken_by_the_first_record(machine: SimulatedMachine) -> None:
    client, other = await machine.connect(), await machine.connect()
    await create_topic(client, "orders")
    waiting = asyncio.ensure_future(fetch(client, "orders"))
    await asyncio.sleep(60)
    await produce(other, "orders", b"a")
    assert values_in(await waiting) == [b"a"]
    assert now_ms(machine) == 60_000


@on_a_broker()
async def test_a_fetch_waits_until_there_is_enough(machine: SimulatedMachine) -> None:
    client, other = await machine.connect(), await machine.connect()
    await create_topic(client, "orders")
    size = len(batch(b"a"))
    waiting = asyncio.ensure_future(fetch(client, "orders", min_bytes=2 * size + 1))
    for second in range(3):
        assert not waiting.done()
        await produce(other, "orders", b"a")
        await asyncio.sleep(1)
        assert waiting.done() == (second == 2)
    assert values_in(await waiting) == [b"a"] * 3


@on_a_broker()
async def test_with_too_little_a_fetch_gets_what_there_is(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a")
    answer = await fetch(client, "orders", min_bytes=1_000, max_wait_ms=500)
    assert values_in(answer) == [b"a"]
    assert now_ms(machine) == 500


@on_a_broker()
async def test_read_committed_waits_for_the_end_of_the_transaction(
    machine: SimulatedMachine,
) -> None:
    client, other = await machine.connect(), await machine.connect()
    await create_topic(client, "orders")
    committed = asyncio.ensure_future(fetch(client, "orders", read_committed=True))
    uncommitted = asyncio.ensure_future(fetch(other, "orders"))
    partition, log = machine.broker.replicas.get("orders", 0), log_of(machine, "orders")
    records = build_batch(
        [Record(0, START_MS, None, b"a")],
        producer_id=PRODUCER,
        producer_epoch=0,
        base_sequence=0,
        is_transactional=True,
    )
    partition.append(memoryview(bytearray(records)), acks=-1, now_ms=START_MS)
    assert values_in(await uncommitted) == [b"a"]
    await asyncio.sleep(60)
    assert not committed.done()
    log.append_marker(
        ControlType.COMMIT,
        producer_id=PRODUCER,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=partition.leader_epoch,
        now_ms=START_MS,
    )
    partition.write_later(0)
    assert values_in(await committed)[0] == b"a"
    assert now_ms(machine) == 60_000


@on_a_broker()
async def test_a_follower_is_woken_by_what_is_not_committed(machine: SimulatedMachine) -> None:
    client, follower, consumer = [await machine.connect() for _ in range(3)]
    await create_topic(client, "orders")
    assert await lead(client, "orders", isr=[0, FOLLOWER], leader_epoch=1) == ErrorCode.NONE
    replicated = asyncio.ensure_future(fetch(follower, "orders", replica_id=FOLLOWER))
    consumed = asyncio.ensure_future(fetch(consumer, "orders", max_wait_ms=10_000))
    await asyncio.sleep(1)
    await produce(client, "orders", b"a", acks=1)
    assert values_in(await replicated) == [b"a"]
    assert now_ms(machine) == 1_000
    assert (await consumed).records == b""
    assert now_ms(machine) == 10_000


@on_a_broker()
async def test_a_produce_times_out_where_a_replica_is_silent(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    for topic in ("alone", "together"):
        await create_topic(client, topic)
    await lead(client, "together", isr=[0, FOLLOWER], leader_epoch=1)
    records = {("alone", 0): batch(b"a"), ("together", 0): batch(b"b")}
    answer = await client.request(produce_request(records, acks=-1, timeout_ms=5_000))
    assert isinstance(answer, ProduceResponse)
    alone, together = (topic.partition_responses[0] for topic in answer.responses)
    assert (alone.error_code, alone.base_offset) == (ErrorCode.NONE, 0)
    assert together.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert now_ms(machine) == 5_000


@on_a_broker()
async def test_a_produce_is_done_when_the_silent_replica_is_out_of_sync(
    machine: SimulatedMachine,
) -> None:
    client, controller = await machine.connect(), await machine.connect()
    await create_topic(client, "orders")
    await lead(controller, "orders", isr=[0, FOLLOWER], leader_epoch=1)
    waiting = asyncio.ensure_future(produce(client, "orders", b"a"))
    await asyncio.sleep(10)
    assert not waiting.done()
    await lead(controller, "orders", isr=[0], leader_epoch=2)
    answer = await waiting
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    assert now_ms(machine) == 10_000


@on_a_broker()
async def test_a_produce_overtakes_a_parked_one_but_a_fetch_does_not(
    machine: SimulatedMachine,
) -> None:
    client, controller = await machine.connect(), await machine.connect()
    await create_topic(client, "orders")
    await lead(controller, "orders", isr=[0, FOLLOWER], leader_epoch=1)
    log = log_of(machine, "orders")
    first = asyncio.ensure_future(produce(client, "orders", b"a", timeout_ms=60_000))
    second = asyncio.ensure_future(produce(client, "orders", b"b", timeout_ms=60_000))
    fetched = asyncio.ensure_future(fetch(client, "orders", max_wait_ms=0))
    third = asyncio.ensure_future(produce(client, "orders", b"c", timeout_ms=60_000))
    await asyncio.sleep(1)
    assert log.next_offset == 2  # what is behind the fetch waits with it
    assert not any(each.done() for each in (first, second, fetched, third))
    await lead(controller, "orders", isr=[0], leader_epoch=2)
    assert [(await each).base_offset for each in (first, second, third)] == [0, 1, 2]
    assert values_in(await fetched) == [b"a", b"b"]
    assert now_ms(machine) == 1_000


async def delete_records(machine: SimulatedMachine, offset: int) -> tuple[ErrorCode, int]:
    client = await machine.connect()
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    topic = DeleteRecordsTopic(name="orders", partitions=[partition])
    answer = await client.request(DeleteRecordsRequest(topics=[topic], timeout_ms=5_000))
    assert isinstance(answer, DeleteRecordsResponse)
    result = answer.topics[0].partitions[0]
    return ErrorCode(result.error_code), result.low_watermark


@on_a_broker()
async def test_deleted_records_are_gone_at_once_when_one_replica_is_all(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a", b"b", b"c")
    assert await delete_records(machine, 2) == (ErrorCode.NONE, 2)
    answer = await fetch(client, "orders", offset=0, max_wait_ms=0)
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert now_ms(machine) == 0


@on_a_broker()
async def test_deletion_waits_for_the_other_replica_and_times_out(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a", b"b")
    await lead(client, "orders", isr=[0, FOLLOWER], leader_epoch=1)
    assert await delete_records(machine, 1) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    assert now_ms(machine) == 5_000
    waiting = asyncio.ensure_future(delete_records(machine, 1))
    await asyncio.sleep(1)
    await lead(client, "orders", isr=[0], leader_epoch=2)
    assert await waiting == (ErrorCode.NONE, 1)
    assert now_ms(machine) == 6_000


@on_a_broker()
async def test_a_wall_clock_that_jumps_has_no_effect_on_waiting(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    waiting = asyncio.ensure_future(fetch(client, "orders", max_wait_ms=HOUR_MS))
    for skew_ms in (1_000 * HOUR_MS, -1_000 * HOUR_MS):
        await asyncio.sleep(60)
        machine.clock.skew_ms = skew_ms
    await waiting
    assert now_ms(machine) == HOUR_MS
