"""Produces, fetches and deletions that wait: what ends the waiting, and what is answered then."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.delayed_delete import DelayedDelete, DeletionResult
from ottla.replication.delayed_fetch import DelayedFetch
from ottla.replication.delayed_produce import DelayedProduce, PartitionResult
from ottla.replication.partition import Partition
from ottla.replication.reading import CONSUMER, Found, Wanted
from ottla.storage.files import DiskFailed
from tests.unit.replication.partitions import Answers, World, reader, wanted
from tests.unit.storage.logs import NOW_MS, batch
from tests.virtual_time import on_virtual_time

FOLLOWER = 2
BOTH = (1, FOLLOWER)


def produce(
    world: World, *partitions: Partition, acks: int = -1, timeout_ms: int = 30_000
) -> tuple[list[PartitionResult], Answers]:
    results = []
    for partition in partitions:
        result = PartitionResult(partition.topic, partition.index)
        result.appended(partition, partition.append(batch(b"x"), acks=acks, now_ms=NOW_MS))
        results.append(result)
    answers = Answers()
    operation = DelayedProduce(results, acks=acks, reply=answers)
    purgatory = world.replicas.produces
    world.tick.settle(lambda: operation.written(purgatory, timeout_ms=timeout_ms))
    world.tick.end()
    return results, answers


def codes(results: Sequence[PartitionResult | DeletionResult]) -> list[ErrorCode]:
    return [result.error for result in results]


@on_virtual_time
async def test_a_leader_alone_answers_in_the_same_tick() -> None:
    world = World()
    results, answers = produce(world, await world.led())
    assert (answers.is_there, codes(results)) == (True, [ErrorCode.NONE])
    assert (results[0].base_offset, results[0].log_start_offset) == (0, 0)


@on_virtual_time
async def test_acks_of_all_wait_for_every_replica_in_sync() -> None:
    world = World()
    partition = await world.led(isr=(1, 2, 3))
    results, answers = produce(world, partition)
    world.fetched(partition, 2, 1)
    assert not answers.is_there
    world.fetched(partition, 3, 1)
    assert (answers.is_there, codes(results)) == (True, [ErrorCode.NONE])
    assert world.replicas.produces.delayed == 0


@on_virtual_time
async def test_acks_of_one_wait_for_nobody() -> None:
    world = World()
    _, answers = produce(world, await world.led(isr=BOTH), acks=1)
    assert answers.is_there


@on_virtual_time
async def test_only_what_is_still_open_times_out() -> None:
    world = World()
    slow, quick = await world.led(0, isr=BOTH), await world.led(1, isr=BOTH)
    results, answers = produce(world, slow, quick, timeout_ms=30_000)
    world.fetched(quick, FOLLOWER, 1)
    await asyncio.sleep(29.999)
    assert not answers.is_there
    await asyncio.sleep(0.002)
    assert codes(results) == [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE]
    assert answers.at_ms == [30_000]
    assert results[0].base_offset == 0  # it is in the log, and may yet be safe


@on_virtual_time
async def test_a_leader_that_has_to_go_answers_who_waits() -> None:
    world = World()
    results, answers = produce(world, await world.led(isr=BOTH))
    await world.become(leader=FOLLOWER, epoch=1, isr=BOTH)
    assert answers.is_there
    assert codes(results) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]


@on_virtual_time
async def test_a_partition_that_is_stopped_answers_who_waits() -> None:
    world = World()
    results, answers = produce(world, await world.led(isr=BOTH))
    world.leadership.stop("orders", 0, leader_epoch=5, deletes=False)
    assert answers.is_there
    assert codes(results) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]


@on_virtual_time
async def test_too_few_replicas_are_found_before_the_append_or_after_it() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    results, answers = produce(world, partition)
    partition.isr = (1,)
    partition.advance()
    partition.min_insync = 2  # more are asked for while it is judged
    world.replicas.recheck(partition)
    assert answers.is_there
    assert codes(results) == [ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND]
    with pytest.raises(KafkaError) as refused:
        partition.append(batch(b"x"), acks=-1, now_ms=NOW_MS)
    assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS


@on_virtual_time
async def test_what_too_few_replicas_have_is_not_committed() -> None:
    world = World(min_insync=2)
    partition = await world.led(isr=BOTH)
    results, answers = produce(world, partition)
    await world.become(epoch=1, isr=(1,), replicas=BOTH)
    world.append(partition, b"y", acks=1)
    assert (answers.is_there, partition.local_log().high_watermark) == (False, 0)
    await asyncio.sleep(30.001)
    assert codes(results) == [ErrorCode.REQUEST_TIMED_OUT]
    await world.become(epoch=2, isr=BOTH)
    world.fetched(partition, FOLLOWER, 2)
    assert partition.local_log().high_watermark == 2


@on_virtual_time
async def test_a_full_disk_fails_all_of_the_ticks_requests_and_the_log_is_as_before() -> None:
    world = World()
    partition = await world.led()
    world.append(partition, b"before")
    world.disk.faults.capacity_bytes = 0
    results, answers = produce(world, partition)
    assert answers.is_there
    assert codes(results) == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert (results[0].base_offset, partition.local_log().next_offset) == (-1, 1)
    world.disk.faults.capacity_bytes = None
    results, _ = produce(world, partition)
    assert (codes(results), results[0].base_offset) == ([ErrorCode.NONE], 1)


@on_virtual_time
async def test_a_failed_disk_answers_all_that_wait_for_its_partitions() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    results, produced = produce(world, partition)
    fetched = park_fetch(world, [wanted(partition, 1)], replica_id=FOLLOWER)
    world.replicas.disk_failed(DiskFailed("/data/orders-0/x.log", OSError("Input/output error")))
    assert codes(results) == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert (produced.is_there, fetched.is_there) == (True, True)
    assert found_in(fetched)[0].error in (
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    )


def park_fetch(
    world: World,
    parts: list[Wanted],
    *,
    replica_id: int = CONSUMER,
    min_bytes: int = 1,
    max_wait_ms: int = 500,
) -> Answers:
    answers = Answers()
    operation = DelayedFetch(parts, reader(replica_id, min_bytes=min_bytes), answers)
    watch = [each.partition for each in parts if each.partition is not None]
    world.replicas.fetches.park(operation, watch=watch, timeout_ms=max_wait_ms)
    return answers


def found_in(answers: Answers) -> list[Found]:
    (found,) = answers.found
    assert isinstance(found, list)
    return found


@on_virtual_time
async def test_a_fetch_of_nothing_waits_its_full_time_and_is_answered_with_nothing() -> None:
    world = World()
    answers = park_fetch(world, [wanted(await world.led())], max_wait_ms=500)
    await asyncio.sleep(1)
    assert answers.at_ms == [500]
    assert found_in(answers)[0].size_bytes == 0
    assert found_in(answers)[0].high_watermark == 0


@on_virtual_time
async def test_records_that_come_end_the_waiting() -> None:
    world = World()
    partition = await world.led()
    answers = park_fetch(world, [wanted(partition)])
    world.append(partition, b"a")
    assert answers.is_there
    assert found_in(answers)[0].size_bytes > 0


@on_virtual_time
async def test_a_fetch_waits_for_as_many_bytes_as_it_asked_for_over_all_partitions() -> None:
    world = World()
    partitions = [await world.led(0), await world.led(1)]
    answers = park_fetch(world, [wanted(each) for each in partitions], min_bytes=1_500)
    world.append(partitions[0], bytes(1_000))
    assert not answers.is_there
    world.append(partitions[1], bytes(1_000))
    assert [each.size_bytes > 1_000 for each in found_in(answers)] == [True, True]


@on_virtual_time
async def test_what_is_not_committed_wakes_followers_but_no_consumer() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    consumer = park_fetch(world, [wanted(partition)])
    follower = park_fetch(world, [wanted(partition)], replica_id=FOLLOWER)
    world.append(partition, b"a")
    assert (consumer.is_there, follower.is_there) == (False, True)
    world.fetched(partition, FOLLOWER, 1)
    assert consumer.is_there


@on_virtual_time
async def test_a_change_of_the_leader_ends_the_waiting_with_an_error() -> None:
    world = World()
    partition = await world.led()
    moved = park_fetch(world, [wanted(partition)])
    fenced = park_fetch(world, [wanted(partition, leader_epoch=0)])
    await world.become(epoch=1)
    assert (moved.is_there, fenced.is_there) == (False, True)
    assert found_in(fenced)[0].error is ErrorCode.FENCED_LEADER_EPOCH
    await world.become(epoch=2, leader=FOLLOWER, isr=BOTH)
    assert found_in(moved)[0].error is ErrorCode.NOT_LEADER_OR_FOLLOWER


def delete(world: World, offset: int, *, index: int = 0, timeout_ms: int = 1_000) -> Answers:
    result = DeletionResult.start(world.replicas, "orders", index, offset)
    answers = Answers()
    watch = [] if result.partition is None else [result.partition]
    operation = DelayedDelete([result], answers)
    world.replicas.deletions.park(operation, watch=watch, timeout_ms=timeout_ms)
    return answers


def deletion_in(answers: Answers) -> tuple[ErrorCode, int]:
    (results,) = answers.found
    assert isinstance(results, list)
    return results[0].error, results[0].low_watermark


@on_virtual_time
async def test_records_are_deleted_at_once_where_there_is_one_replica() -> None:
    world = World()
    partition = await world.led()
    for _ in range(3):
        world.append(partition, b"x")
    assert deletion_in(delete(world, 2)) == (ErrorCode.NONE, 2)
    assert partition.local_log().log_start_offset == 2
    assert deletion_in(delete(world, -1)) == (ErrorCode.NONE, 3)
    assert deletion_in(delete(world, 1)) == (ErrorCode.NONE, 3)  # it is gone already


@on_virtual_time
async def test_offsets_beyond_what_is_committed_are_not_deleted() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    world.append(partition, b"x")
    for offset in (1, -2):
        assert deletion_in(delete(world, offset))[0] is ErrorCode.OFFSET_OUT_OF_RANGE
    unknown = deletion_in(delete(world, 0, index=9))
    assert unknown == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)


@on_virtual_time
async def test_a_deletion_that_a_follower_does_not_confirm_times_out() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    world.append(partition, b"x")
    world.fetched(partition, FOLLOWER, 1)
    answers = delete(world, 1, timeout_ms=1_000)
    assert not answers.is_there
    await asyncio.sleep(2)
    assert answers.at_ms == [1_000]
    assert deletion_in(answers)[0] is ErrorCode.REQUEST_TIMED_OUT


@on_virtual_time
async def test_a_deletion_ends_with_its_leader() -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    world.append(partition, b"x")
    world.fetched(partition, FOLLOWER, 1)
    answers = delete(world, 1)
    await world.become(epoch=1, leader=FOLLOWER, isr=BOTH)
    assert deletion_in(answers)[0] is ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("fails", [False, True])
@on_virtual_time
async def test_who_waits_for_a_partition_that_cannot_be_deleted_is_answered(fails: bool) -> None:
    world = World()
    partition = await world.led(isr=BOTH)
    results, answers = produce(world, partition)
    if fails:
        world.disk.break_file("/data")
    else:
        world.disk.refuse_at(world.disk.faults.operation_count + 1)
    code = world.leadership.stop("orders", 0, leader_epoch=1, deletes=True)
    assert code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (answers.is_there, codes(results)) == (True, [ErrorCode.NOT_LEADER_OR_FOLLOWER])
