"""A partition as a coordinator's log: what is stored, when it is told, and how it is read back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from ottla.broker.coordinator_logs import CoordinatorLogs, PartitionLog
from ottla.coordinators.effects import Record
from ottla.coordinators.log import CoordinatorLog
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.clock import VirtualClock
from ottla.storage.config import LogConfig
from tests.unit.replication.partitions import World
from tests.unit.storage.logs import NOW_MS
from tests.virtual_time import on_virtual_time, virtual_loop

COMPACTED = LogConfig(compacts=True, deletes=False, max_message_bytes=500)
BOTH = (1, 2)
ONE, TWO = (Record(b"k1", b"v1"),), (Record(b"k2", b"v2"), Record(b"k1", None))


async def log_of(
    world: World, *, isr: tuple[int, ...] = (1,), codec: Codec = Codec.NONE, acks: int = -1
) -> PartitionLog:
    await world.led(isr=isr)
    clock = VirtualClock(virtual_loop(), start_ms=NOW_MS)
    log = CoordinatorLogs("orders", world.replicas, clock, codec, acks).open(0)
    kept: CoordinatorLog = log  # the port
    assert kept is log
    return log


def append(
    log: PartitionLog,
    *batches: tuple[Record, ...],
    timeout_ms: int = 5000,
    producer: tuple[int, int] | None = None,
) -> list[str]:
    """What was told, and of which batch."""
    told: list[str] = []

    def telling(number: int) -> Callable[[ErrorCode], None]:
        return lambda error: told.append(f"{number} {error.name}")

    for number, records in enumerate(batches):
        log.append(records, telling(number), timeout_ms=timeout_ms, producer=producer)
    assert told == []  # never from within the call
    return told


async def read(log: PartitionLog, offset: int = 0, max_bytes: int = 1 << 20) -> bytes | ErrorCode:
    found: asyncio.Future[bytes | ErrorCode] = virtual_loop().create_future()
    log.read(offset, max_bytes=max_bytes, on_read=found.set_result)
    assert not found.done()
    return await found


def records_in(data: bytes | ErrorCode) -> list[tuple[int, bytes | None, bytes | None]]:
    assert isinstance(data, bytes)
    return [(r.offset, r.key, r.value) for batch in read_batches(data) for r in batch.records()]


@on_virtual_time
async def test_what_is_stored_is_told_in_the_same_tick_and_read_back() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world)
    told = append(log, ONE, TWO)
    world.tick.end()
    assert told == ["0 NONE", "1 NONE"]
    expected = [(0, b"k1", b"v1"), (1, b"k2", b"v2"), (2, b"k1", None)]
    assert records_in(await read(log)) == expected
    assert records_in(await read(log, 1)) == expected[1:]
    assert await read(log, 3) == b""
    assert await read(log, 99) == b""


@on_virtual_time
async def test_reading_starts_where_the_log_does_and_goes_on_past_the_high_watermark() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world, isr=BOTH)
    append(log, ONE, TWO)
    world.tick.end()
    partition = world.replicas.partitions["orders", 0]
    assert partition.local_log().high_watermark == 0
    partition.local_log().log_start_offset = 1
    assert [offset for offset, _, _ in records_in(await read(log, 0, max_bytes=1))] == [1, 2]


@on_virtual_time
async def test_batches_are_compressed_if_the_operator_wants_it() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world, codec=Codec.GZIP)
    append(log, TWO)
    world.tick.end()
    data = await read(log)
    assert isinstance(data, bytes)
    assert [batch.codec for batch in read_batches(data)] == [Codec.GZIP]
    assert len(records_in(data)) == 2


@on_virtual_time
async def test_an_append_waits_for_the_replicas_in_sync_and_no_longer_than_it_may() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world, isr=BOTH)
    told = append(log, ONE, TWO)
    world.tick.end()
    world.fetched(world.replicas.partitions["orders", 0], 2, 1)
    assert told == ["0 NONE"]
    await asyncio.sleep(5.1)
    assert told == ["0 NONE", "1 REQUEST_TIMED_OUT"]


@on_virtual_time
async def test_fewer_acks_wait_for_nobody() -> None:
    world = World(config=COMPACTED)
    told = append(await log_of(world, isr=BOTH, acks=1), ONE)
    world.tick.end()
    assert told == ["0 NONE"]


@on_virtual_time
async def test_one_that_is_refused_at_once_does_not_overtake_those_that_wait() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world, isr=BOTH)
    told = append(log, ONE, (Record(b"k", b"x" * 1000),), TWO)
    world.tick.end()
    assert told == []
    world.fetched(world.replicas.partitions["orders", 0], 2, 3)
    assert told == ["0 NONE", "1 MESSAGE_TOO_LARGE", "2 NONE"]


@on_virtual_time
async def test_too_few_replicas_in_sync_take_nothing() -> None:
    world = World(config=COMPACTED, min_insync=2)
    log = await log_of(world)
    await world.become(epoch=1, replicas=BOTH)
    told = append(log, ONE)
    world.tick.end()
    assert told == ["0 NOT_ENOUGH_REPLICAS"]


@on_virtual_time
async def test_a_full_disk_refuses_the_append_and_later_ones_are_taken_again() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world)
    world.disk.fill_up()
    told = append(log, ONE)
    world.tick.end()
    assert told == ["0 KAFKA_STORAGE_ERROR"]
    world.disk.make_room()
    told = append(log, TWO)
    world.tick.end()
    assert told == ["0 NONE"]
    assert [offset for offset, _, _ in records_in(await read(log))] == [0, 1]


@on_virtual_time
async def test_who_leads_no_more_neither_appends_nor_reads() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world, isr=BOTH)
    waiting = append(log, ONE)
    world.tick.end()
    await world.become(leader=2, epoch=1, isr=BOTH)
    assert waiting == ["0 NOT_LEADER_OR_FOLLOWER"]
    told = append(log, ONE)
    world.tick.end()
    assert told == ["0 NOT_LEADER_OR_FOLLOWER"]
    assert await read(log) is ErrorCode.NOT_LEADER_OR_FOLLOWER


@on_virtual_time
async def test_a_failed_disk_is_told_to_everybody() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world)
    append(log, ONE)
    world.tick.end()
    assert log.max_batch_bytes == 500
    world.disk.break_file("/data")
    assert await read(log) is ErrorCode.KAFKA_STORAGE_ERROR
    assert list(world.directories.offline) == ["/data"]
    assert await read(log) is ErrorCode.KAFKA_STORAGE_ERROR
    told = append(log, ONE)
    world.tick.end()
    assert told == ["0 KAFKA_STORAGE_ERROR"]


@on_virtual_time
async def test_a_transaction_may_have_many_batches_alike_and_none_of_an_older_epoch() -> None:
    world = World(config=COMPACTED)
    log = await log_of(world)
    told = append(log, ONE, ONE, TWO, producer=(7, 1))
    world.tick.end()
    assert told == ["0 NONE", "1 NONE", "2 NONE"]
    data = await read(log)
    assert isinstance(data, bytes)
    headers = [each.header for each in read_batches(data)]
    assert [h and (h.producer_id, h.producer_epoch, h.base_sequence) for h in headers] == [
        (7, 1, 0)
    ] * 3
    assert all(h is not None and h.is_transactional for h in headers)
    partition = world.replicas.partitions["orders", 0]
    assert partition.is_in_transaction(7, epoch=1)
    assert partition.local_log().last_stable_offset == 0
    told = append(log, ONE, producer=(7, 0))
    world.tick.end()
    assert told == ["0 INVALID_PRODUCER_EPOCH"]


@pytest.mark.parametrize(
    ("compression_type", "stored"),
    [("producer", Codec.GZIP), ("uncompressed", Codec.NONE), ("zstd", Codec.ZSTD)],
)
@on_virtual_time
async def test_what_the_topic_says_of_compression_goes_before_the_coordinators_option(
    compression_type: str, stored: Codec
) -> None:
    world = World(config=replace(COMPACTED, compression_type=compression_type))
    log = await log_of(world, codec=Codec.GZIP)
    told = append(log, TWO)
    world.tick.end()
    assert told == ["0 NONE"]
    data = await read(log)
    assert records_in(data) == [(0, b"k2", b"v2"), (1, b"k1", None)]
    assert isinstance(data, bytes)
    assert [batch.codec for batch in read_batches(data)] == [stored]
