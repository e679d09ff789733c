"""Days in the life of a broker: what its timers flush, save, drop and compact."""

from __future__ import annotations

import asyncio

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import LOG_DIR, START_MS, SimulatedMachine
from ottla.storage.checkpoints import HIGH_WATERMARKS, RECOVERY_POINTS, TopicPartition
from ottla.storage.compactor import Compactor
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
from tests.simulation.broker.test_waiting import log_of

HOUR_S = 3_600
DAY_MS = 24 * HOUR_MS


@on_a_broker()
async def test_records_older_than_the_retention_go_with_their_segments(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders", retention_ms=str(DAY_MS), segment_ms=str(HOUR_MS))
    for hour in range(30):
        await produce(client, "orders", b"%d" % hour, timestamp=START_MS + hour * HOUR_MS)
        await asyncio.sleep(HOUR_S)
        client = await machine.connect()  # the other one was silent too long
    found = await read_all(client, "orders")
    assert found == [b"%d" % hour for hour in range(30 - len(found), 30)]
    assert 23 <= len(found) <= 25
    old = await fetch(client, "orders", offset=0, max_wait_ms=0)
    assert old.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    names = machine.disk.names(f"{LOG_DIR}/orders-0")
    assert not [name for name in names if name.endswith(".deleted")]
    assert len([name for name in names if name.endswith(".log")]) <= 26


@on_a_broker()
async def test_a_topic_is_flushed_as_often_as_it_asks_for(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "by_time", flush_ms="10000")
    await create_topic(client, "by_count", flush_messages="3")
    await create_topic(client, "never")
    for topic in ("by_time", "by_count", "never"):
        await produce(client, topic, b"a", b"b", b"c")
    await asyncio.sleep(20)
    points = {name: log_of(machine, name).recovery_point for name in ("by_time", "by_count")}
    assert points == {"by_time": 3, "by_count": 3}
    assert log_of(machine, "never").recovery_point == 0


@on_a_broker()
async def test_checkpoints_are_saved_within_their_interval(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders", flush_messages="1")
    await produce(client, "orders", b"a", b"b")
    await asyncio.sleep(65)
    for name in (RECOVERY_POINTS, HIGH_WATERMARKS):
        saved = machine.disk.read(f"{LOG_DIR}/{name}").decode()
        assert "orders 0 2" in saved.splitlines(), name


@on_a_broker(log_cleaner_backoff_ms="15000")
async def test_a_compacted_topic_keeps_the_last_of_each_key(machine: SimulatedMachine) -> None:
    await write_state(machine)
    client = await machine.connect()
    assert len(await read_all(client, "state")) == 100
    await asyncio.sleep(120)
    found = await read_all(client, "state")
    assert len(found) < 40
    assert found[-5:] == [b"%d" % number for number in range(95, 100)]
    assert log_of(machine, "state").next_offset == 100


@on_a_broker(producer_id_expiration_ms=str(DAY_MS))
async def test_producers_that_are_idle_for_long_are_forgotten(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a", idempotent=Idempotent(4, 0))
    await asyncio.sleep(23 * HOUR_S)
    assert log_of(machine, "orders").producers.get(4) is not None
    await asyncio.sleep(2 * HOUR_S)
    assert log_of(machine, "orders").producers.get(4) is None


@on_a_broker(log_cleaner_enable="false")
async def test_a_broker_whose_cleaner_is_off_compacts_nothing(machine: SimulatedMachine) -> None:
    await write_state(machine)
    await asyncio.sleep(600)
    assert len(await read_all(await machine.connect(), "state")) == 100


@on_a_broker()
async def test_the_limits_of_compaction_change_while_the_broker_runs(
    machine: SimulatedMachine,
) -> None:
    await set_broker_options(
        machine,
        {"log.cleaner.dedupe.buffer.size": "2000000", "log.cleaner.io.max.bytes.per.second": "5E7"},
    )
    with pytest.MonkeyPatch.context() as patch:
        limits: set[tuple[int, float]] = set()
        start = Compactor.start_dirtiest

        def note(compactor: Compactor, *, now_ms: int) -> TopicPartition | None:
            limits.add((compactor.map_bytes, compactor.bytes_per_second))
            return start(compactor, now_ms=now_ms)

        # Its jobs do not tell: their map is never larger than a small log needs.
        patch.setattr(Compactor, "start_dirtiest", note)
        await write_state(machine)
        await asyncio.sleep(120)
    assert limits == {(2_000_000, 5e7)}


@on_a_broker()
async def test_how_long_deleted_files_stay_changes_while_the_broker_runs(
    machine: SimulatedMachine,
) -> None:
    def deleted() -> list[str]:
        return [name for name in machine.disk.names(LOG_DIR) if name.endswith("-delete")]

    client = await machine.connect()
    for topic in ("orders", "views"):
        await create_topic(client, topic)
    assert await delete_topic(client, "orders") == ErrorCode.NONE
    await asyncio.sleep(30)
    assert len(deleted()) == 1
    await asyncio.sleep(60)
    assert deleted() == []
    await set_broker_options(machine, {"log.segment.delete.delay.ms": "0"})
    assert await delete_topic(client, "views") == ErrorCode.NONE
    await asyncio.sleep(10)
    assert deleted() == []


async def write_state(machine: SimulatedMachine) -> None:
    """A hundred records of five keys, in many small segments."""
    client = await machine.connect()
    await create_topic(
        client,
        "state",
        cleanup_policy="compact",
        segment_bytes="1000",
        min_cleanable_dirty_ratio="0.01",
    )
    for number in range(100):
        await produce(client, "state", b"%d" % number, key=b"key-%d" % (number % 5))


async def set_broker_options(machine: SimulatedMachine, options: dict[str, str]) -> None:
    broker = machine.broker
    await broker.services.configs.change(f"brokers/{broker.id}", lambda _: options)
    await asyncio.sleep(1)
