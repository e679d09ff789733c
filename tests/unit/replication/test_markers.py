"""Markers in the partitions that a broker leads: who may write them, and what they let be read."""

from __future__ import annotations

import asyncio

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.control import END_TRANSACTION_BYTES, ControlType
from ottla.replication.delayed_fetch import DelayedFetch
from ottla.replication.delayed_produce import DelayedProduce, PartitionResult
from ottla.replication.partition import Partition
from ottla.replication.reading import Isolation
from ottla.storage.append_group import Appended
from tests.unit.replication.partitions import Answers, World, reader, wanted
from tests.unit.storage.logs import NOW_MS, batch
from tests.virtual_time import on_virtual_time

FOLLOWER = 2
BOTH = (1, FOLLOWER)
COMMITTED = reader(isolation=Isolation.READ_COMMITTED)


def send(
    world: World, partition: Partition, *, producer_id: int = 7, epoch: int = 0, sequence: int = 0
) -> None:
    data = batch(
        b"x",
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=True,
    )
    partition.append(data, acks=1, now_ms=NOW_MS)
    world.tick.end()


def mark(
    partition: Partition,
    control_type: ControlType = ControlType.COMMIT,
    *,
    producer_id: int = 7,
    epoch: int = 0,
    coordinator_epoch: int = 0,
) -> Appended:
    return partition.append_marker(
        control_type,
        producer_id=producer_id,
        producer_epoch=epoch,
        coordinator_epoch=coordinator_epoch,
        now_ms=NOW_MS,
    )


def refusal(partition: Partition, *, epoch: int = 0, coordinator_epoch: int = 0) -> ErrorCode:
    with pytest.raises(KafkaError) as refused:
        mark(partition, epoch=epoch, coordinator_epoch=coordinator_epoch)
    return refused.value.code


def fetch(world: World, partition: Partition, offset: int = 0) -> Answers:
    """One that waits."""
    answers = Answers()
    operation = DelayedFetch([wanted(partition, offset)], COMMITTED, answers)
    world.replicas.fetches.park(operation, watch=[partition], timeout_ms=10_000)
    return answers


@pytest.mark.parametrize("end", [ControlType.COMMIT, ControlType.ABORT])
@on_virtual_time
async def test_who_waits_for_committed_records_is_woken_by_the_marker(end: ControlType) -> None:
    world = World()
    partition = await world.led()
    answers = fetch(world, partition)
    send(world, partition)
    world.append(partition, b"plain")
    mark(partition, end)
    assert answers.found == []  # it is not written yet
    world.tick.end()
    assert len(answers.found) == 1
    assert partition.local_log().last_stable_offset == 3


@on_virtual_time
async def test_who_waits_is_not_woken_before_every_replica_has_the_marker() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    send(world, partition)
    world.fetched(partition, FOLLOWER, 1)
    answers = fetch(world, partition)
    mark(partition)
    world.tick.end()
    assert (answers.is_there, partition.local_log().last_stable_offset) == (False, 0)
    world.fetched(partition, FOLLOWER, 2)
    assert (answers.is_there, partition.local_log().last_stable_offset) == (True, 2)


@on_virtual_time
async def test_the_end_of_one_transaction_wakes_nobody_behind_the_beginning_of_another() -> None:
    world = World()
    partition = await world.led()
    send(world, partition, producer_id=7)
    send(world, partition, producer_id=8)
    first, second = fetch(world, partition), fetch(world, partition, 1)
    mark(partition, producer_id=7)
    world.tick.end()
    assert (first.is_there, second.is_there) == (True, False)
    mark(partition, producer_id=8)
    world.tick.end()
    assert second.is_there


@on_virtual_time
async def test_a_marker_is_safe_when_all_in_sync_replicas_have_it() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    send(world, partition)
    result, answers = PartitionResult("orders", 0), Answers()
    result.appended(partition, mark(partition))
    operation = DelayedProduce([result], acks=-1, reply=answers)
    world.tick.settle(lambda: operation.written(world.replicas.produces, timeout_ms=5_000))
    world.tick.end()
    assert not answers.is_there
    world.fetched(partition, FOLLOWER, 2)
    assert (answers.is_there, result.error) == (True, ErrorCode.NONE)


@on_virtual_time
async def test_zombies_of_either_kind_are_refused() -> None:
    world = World()
    partition = await world.led()
    send(world, partition, epoch=3)
    assert refusal(partition, epoch=2) is ErrorCode.INVALID_PRODUCER_EPOCH
    mark(partition, epoch=3, coordinator_epoch=5)
    world.tick.end()
    fenced = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert refusal(partition, epoch=4, coordinator_epoch=4) is fenced
    mark(partition, epoch=4, coordinator_epoch=5)
    world.tick.end()
    assert partition.local_log().next_offset == 3


@on_virtual_time
async def test_only_a_leader_with_enough_replicas_writes_them() -> None:
    world = World(min_insync=2)
    partition = await world.led(isr=BOTH)
    await world.become(epoch=1, isr=(1,), replicas=BOTH)
    assert refusal(partition) is ErrorCode.NOT_ENOUGH_REPLICAS
    await world.become(leader=FOLLOWER, epoch=2, isr=BOTH)
    assert refusal(partition) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    partition.log = None
    assert refusal(partition) is ErrorCode.KAFKA_STORAGE_ERROR


@on_virtual_time
async def test_a_marker_that_cannot_be_written_has_not_ended_anything() -> None:
    world = World()
    partition = await world.led()
    send(world, partition)
    world.disk.fill_up()
    appended = mark(partition)
    world.tick.end()
    assert appended.group is not None
    assert isinstance(appended.group.error, OSError)
    log = partition.local_log()
    assert (log.last_stable_offset, partition.is_in_transaction(7, epoch=0)) == (0, True)
    world.disk.make_room()
    mark(partition, ControlType.ABORT)
    world.tick.end()
    assert (log.last_stable_offset, partition.is_in_transaction(7, epoch=0)) == (2, False)


@on_virtual_time
async def test_markers_count_as_what_came_in() -> None:
    world = World()
    partition = await world.led()
    mark(partition)
    world.tick.end()
    traffic = world.replicas.traffic.of("orders")
    assert (traffic.messages_in, traffic.bytes_in) == (1, END_TRANSACTION_BYTES)
    assert partition.local_log().size_bytes == END_TRANSACTION_BYTES


@on_virtual_time
async def test_a_transaction_is_of_one_epoch() -> None:
    world = World()
    partition = await world.led()
    assert not partition.is_in_transaction(7, epoch=0)
    send(world, partition, epoch=1)
    assert [partition.is_in_transaction(7, epoch=epoch) for epoch in (0, 1, 2)] == [
        False,
        True,
        False,
    ]
    partition.log = None
    assert not partition.is_in_transaction(7, epoch=1)


@on_virtual_time
async def test_a_marker_or_another_leader_ends_what_was_being_verified() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    begun = partition.verifications.begin(7, epoch=0, sequence=0)
    await world.become(epoch=1, isr=BOTH)
    assert partition.verifications.get(7) is begun
    mark(partition)
    assert partition.verifications.get(7) is None
    partition.verifications.begin(7, epoch=0, sequence=0)
    await world.become(leader=FOLLOWER, epoch=2, isr=BOTH)
    assert partition.verifications.get(7) is None
    await asyncio.sleep(0)
