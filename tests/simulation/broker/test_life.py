"""Starts, stops, kills and power cuts: what the next start finds, and what it does not look at."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ottla.network.client import Disconnected
from ottla.protocol.apis.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import LOG_DIR, SimulatedMachine
from ottla.simulation.disk import SimulatedFile
from ottla.storage.checkpoints import CLEAN_SHUTDOWN
from tests.simulation.broker.conversation import (
    FOLLOWER,
    Idempotent,
    create_topic,
    fetch,
    lead,
    produce,
    read_all,
)
from tests.simulation.broker.machines import on_a_broker, run_on_a_broker

MARKER = f"{LOG_DIR}/{CLEAN_SHUTDOWN}"
VALUES = [b"%d" % number for number in range(50)]


@on_a_broker()
async def test_a_stop_answers_whoever_is_parked(machine: SimulatedMachine) -> None:
    reader, writer, controller = [await machine.connect() for _ in range(3)]
    for topic in ("orders", "replicated"):
        await create_topic(controller, topic)
    await lead(controller, "replicated", isr=[0, FOLLOWER], leader_epoch=1)
    fetched = asyncio.ensure_future(fetch(reader, "orders"))
    produced = asyncio.ensure_future(produce(writer, "replicated", b"a"))
    await asyncio.sleep(1)
    await machine.stop()
    assert (await fetched).records == b""
    assert (await produced).error_code == ErrorCode.REQUEST_TIMED_OUT
    with pytest.raises(ConnectionRefusedError):
        await machine.connect()
    await asyncio.sleep(1)
    assert not reader.is_open


@on_a_broker()
async def test_a_stop_answers_what_was_sent_behind_a_parked_request(
    machine: SimulatedMachine,
) -> None:
    """Each is served when the one before it is answered, and some would wait again."""
    reader, writer, controller = [await machine.connect() for _ in range(3)]
    for topic in ("orders", "replicated"):
        await create_topic(controller, topic)
    await lead(controller, "replicated", isr=[0, FOLLOWER], leader_epoch=1)
    fetches = [asyncio.ensure_future(fetch(reader, "orders")) for _ in range(5)]
    produced = asyncio.ensure_future(produce(writer, "replicated", b"a"))
    behind = asyncio.ensure_future(fetch(writer, "orders"))
    await asyncio.sleep(1)
    await machine.stop()
    assert [(await each).records for each in (*fetches, behind)] == [b""] * 6
    assert (await produced).error_code == ErrorCode.REQUEST_TIMED_OUT


@on_a_broker()
async def test_after_a_clean_stop_nothing_is_scanned(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    for _ in range(400):
        await produce(client, "orders", bytes(1000))
    assert machine.disk.status(MARKER) is None
    await machine.stop()
    assert machine.disk.status(MARKER) is not None
    machine.disk = machine.disk.crash()  # all of it lasts, whatever happens now
    with batch_reads() as found:
        broker = await machine.start()
    assert broker.directories.online[LOG_DIR].was_clean
    # The first batch's time, and what lies behind the last entries of the indexes.
    assert sum(found) < 400 * 1000 / 10


@contextmanager
def batch_reads() -> Iterator[list[int]]:
    """How many bytes of segments are read meanwhile."""
    found: list[int] = []
    read = SimulatedFile.read

    def noted(file: SimulatedFile, position: int, length: int) -> bytes:
        data = read(file, position, length)
        if file.path.endswith(".log"):
            found.append(len(data))
        return data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulatedFile, "read", noted)
        yield found


@on_a_broker()
async def test_after_a_kill_all_that_was_acknowledged_is_there(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    for value in VALUES:
        assert (await produce(client, "orders", value, acks=1)).error_code == ErrorCode.NONE
    await machine.kill()
    await asyncio.sleep(1)
    assert not client.is_open
    broker = await machine.start()
    assert not broker.directories.online[LOG_DIR].was_clean
    assert await read_all(await machine.connect(), "orders") == VALUES


async def lose_power(machine: SimulatedMachine) -> None:
    """What was acknowledged and synced is there; of the rest a beginning, without a hole."""
    client = await machine.connect()
    await create_topic(client, "orders", flush_ms="500")
    for value in VALUES[:30]:
        await produce(client, "orders", value)
    await asyncio.sleep(2)  # flushed, and the directory entries with it
    for value in VALUES[30:]:
        await produce(client, "orders", value)
    epoch = machine.broker.controller.context.epoch
    await machine.crash()
    broker = await machine.start()
    assert broker.controller.context.epoch == epoch + 1
    client = await machine.connect()
    metadata = await client.request(MetadataRequest(topics=None))
    assert isinstance(metadata, MetadataResponse)
    assert [(topic.name, topic.error_code) for topic in metadata.topics] == [("orders", 0)]
    assert metadata.controller_id == 0
    found = await read_all(client, "orders")
    assert found == VALUES[: len(found)]
    assert len(found) >= 30
    assert (await produce(client, "orders", b"new")).base_offset == len(found)
    assert await read_all(client, "orders") == [*found, b"new"]


@pytest.mark.parametrize("seed", range(20))
def test_a_power_cut_loses_nothing_that_was_synced(seed: int) -> None:
    run_on_a_broker(lose_power, seed=seed)


async def die_somewhere(machine: SimulatedMachine) -> None:
    """The process dies within a change of the disk, whichever: what it had answered is there."""
    client = await machine.connect()
    await create_topic(client, "orders", segment_bytes="500")
    machine.disk.fail_at(machine.disk.faults.operation_count + 10)
    answered: list[bytes] = []
    for value in VALUES:
        try:
            answer = await asyncio.wait_for(produce(client, "orders", value), 1)
        except (Disconnected, TimeoutError):
            break
        assert answer.error_code == ErrorCode.NONE
        answered.append(value)
    assert len(answered) < len(VALUES)
    await machine.kill()
    await machine.start()
    found = await read_all(await machine.connect(), "orders")
    assert found in (answered, VALUES[: len(answered) + 1])


@pytest.mark.parametrize("seed", range(20))
def test_a_broker_that_dies_within_a_write_has_what_it_acknowledged(seed: int) -> None:
    run_on_a_broker(die_somewhere, seed=seed)


@on_a_broker()
async def test_a_producer_goes_on_where_it_was_after_a_kill(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await produce(client, "orders", b"a", idempotent=Idempotent(5, 0))
    await machine.kill()
    await machine.start()
    client = await machine.connect()
    again = await produce(client, "orders", b"a", idempotent=Idempotent(5, 0))
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, 0)
    assert (await produce(client, "orders", b"b", idempotent=Idempotent(5, 1))).base_offset == 1
    assert await read_all(client, "orders") == [b"a", b"b"]
