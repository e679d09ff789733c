"""What a fetch finds in the logs, within its limits and its view."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.layout import MAGIC_AT
from ottla.replication.reading import DEBUGGER, Found, Isolation, isolation_of, read
from tests.unit.replication.partitions import World, reader, wanted
from tests.unit.storage.logs import NOW_MS, batch
from tests.virtual_time import on_virtual_time

FOLLOWER = 2


def offsets(found: Found) -> tuple[int, int]:
    return found.high_watermark, found.log_start_offset


@on_virtual_time
async def test_a_consumer_sees_up_to_the_high_watermark_and_a_follower_everything() -> None:
    world = World()
    partition = await world.led(isr=(1, FOLLOWER))
    world.append(partition, b"a")
    world.append(partition, b"b")
    world.fetched(partition, FOLLOWER, 1)
    (consumer,) = read([wanted(partition)], reader())
    (follower,) = read([wanted(partition)], reader(FOLLOWER))
    (debugger,) = read([wanted(partition)], reader(DEBUGGER))
    assert follower.size_bytes == 2 * consumer.size_bytes > 0
    assert debugger.size_bytes == consumer.size_bytes
    assert offsets(consumer) == offsets(follower) == (1, 0)


@on_virtual_time
async def test_an_open_transaction_ends_the_view_of_who_reads_committed() -> None:
    world = World()
    partition = await world.led()
    world.append(partition, b"plain")
    open_one = batch(b"x", producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True)
    partition.append(open_one, acks=1, now_ms=NOW_MS)
    world.tick.end()
    committed = reader(isolation=Isolation.READ_COMMITTED)
    (found,) = read([wanted(partition)], committed)
    (all_of_it,) = read([wanted(partition)], reader())
    assert found.last_stable_offset == all_of_it.last_stable_offset == 1
    assert found.size_bytes < all_of_it.size_bytes
    assert (found.aborted, all_of_it.aborted) == ([], None)
    log = partition.local_log()
    log.append_marker(
        ControlType.ABORT,
        producer_id=5,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
        now_ms=NOW_MS,
    )
    partition.write_later(0)
    world.tick.end()
    (found,) = read([wanted(partition)], committed)
    assert found.aborted is not None
    assert [(each.producer_id, each.first_offset) for each in found.aborted] == [(5, 1)]


@on_virtual_time
async def test_the_first_batch_comes_whole_however_small_the_limits() -> None:
    world = World()
    partitions = [await world.led(index) for index in range(3)]
    for partition in partitions:
        world.append(partition, bytes(1_000))
    found = read([wanted(each, max_bytes=10) for each in partitions], reader(max_bytes=10))
    assert [each.size_bytes > 1_000 for each in found] == [True, False, False]
    assert [each.slice is None for each in found] == [False, True, True]


@on_virtual_time
async def test_a_partition_without_records_leaves_the_first_batch_to_the_next() -> None:
    world = World()
    empty, full = await world.led(0), await world.led(1)
    world.append(full, bytes(1_000))
    found = read([wanted(empty), wanted(full)], reader(max_bytes=10))
    assert [each.size_bytes > 1_000 for each in found] == [False, True]


@on_virtual_time
async def test_what_is_read_counts_for_those_that_follow() -> None:
    world = World()
    partitions = [await world.led(index) for index in range(3)]
    for partition in partitions:
        world.append(partition, bytes(1_000))
        world.append(partition, bytes(1_000))
    (whole,) = read([wanted(partitions[0])], reader())
    batch_bytes = whole.size_bytes // 2
    most = batch_bytes * 3
    found = read([wanted(each) for each in partitions], reader(max_bytes=most))
    assert [each.size_bytes for each in found] == [batch_bytes * 2, batch_bytes, 0]


@on_virtual_time
async def test_before_version_three_even_the_first_batch_is_cut() -> None:
    world = World()
    partition = await world.led()
    world.append(partition, bytes(1_000))
    (found,) = read([wanted(partition, max_bytes=100)], reader(first_batch_whole=False))
    assert found.size_bytes == 100


@pytest.mark.parametrize(("offset", "code"), [(-1, 1), (2, 1), (1, 0), (0, 0)])
@on_virtual_time
async def test_an_offset_outside_of_the_log_is_refused(offset: int, code: int) -> None:
    world = World()
    partition = await world.led()
    world.append(partition, b"a")
    (found,) = read([wanted(partition, offset)], reader())
    assert found.error == code
    assert offsets(found) == ((-1, -1) if code else (1, 0))


@on_virtual_time
async def test_who_believes_in_another_leader_is_told_so() -> None:
    world = World()
    partition = await world.led()
    await world.become(epoch=3)
    codes = [
        read([wanted(partition, leader_epoch=epoch)], reader())[0].error for epoch in (-1, 2, 3, 4)
    ]
    fenced, unknown = ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH
    assert codes == [ErrorCode.NONE, fenced, ErrorCode.NONE, unknown]
    await world.become(epoch=4, leader=2)
    assert read([wanted(partition)], reader())[0].error is ErrorCode.NOT_LEADER_OR_FOLLOWER


@on_virtual_time
async def test_a_partition_without_a_log_or_not_there_says_why() -> None:
    world = World()
    partition = await world.led()
    partition.log = None
    assert read([wanted(partition)], reader())[0].error is ErrorCode.KAFKA_STORAGE_ERROR
    missing = wanted(None, error=ErrorCode.UNKNOWN_TOPIC_ID)
    assert read([missing], reader())[0].error is ErrorCode.UNKNOWN_TOPIC_ID


@on_virtual_time
async def test_a_reader_whose_log_parted_from_ours_learns_where() -> None:
    world = World()
    partition = await world.led(isr=(1, FOLLOWER))
    world.append(partition, b"a")
    world.append(partition, b"b")
    await world.become(epoch=5, isr=(1, FOLLOWER))
    world.append(partition, b"c")
    (found,) = read([wanted(partition, 3, last_fetched_epoch=0)], reader(FOLLOWER))
    assert found.diverging is not None
    assert (found.diverging.epoch, found.diverging.end_offset) == (0, 2)
    assert found.slice is None
    (found,) = read([wanted(partition, 2, last_fetched_epoch=0)], reader(FOLLOWER))
    assert found.diverging is None
    assert found.size_bytes > 0
    (found,) = read([wanted(partition, 3, last_fetched_epoch=9)], reader(FOLLOWER))
    assert found.error is ErrorCode.OFFSET_OUT_OF_RANGE


@on_virtual_time
async def test_only_brokers_that_hold_a_replica_read_as_followers() -> None:
    partition = await World().led(isr=(1, FOLLOWER))
    codes = [read([wanted(partition)], reader(replica))[0].error for replica in (FOLLOWER, 1, 5)]
    stranger = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert codes == [ErrorCode.NONE, stranger, stranger]


@pytest.mark.parametrize(("one", "all_"), [(-1, 100), (100, -1)])
@on_virtual_time
async def test_a_negative_limit_is_refused(one: int, all_: int) -> None:
    partition = await World().led()
    (found,) = read([wanted(partition, max_bytes=one)], reader(max_bytes=all_))
    assert found.error is ErrorCode.INVALID_FETCH_SIZE


def test_an_isolation_level_that_does_not_exist_is_refused() -> None:
    assert isolation_of(1) is Isolation.READ_COMMITTED
    with pytest.raises(KafkaError, match="isolation level 2"):
        isolation_of(2)


@on_virtual_time
async def test_a_corrupt_log_is_told_of_its_partition_only_and_once_in_the_broker_s_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    partitions = [await world.led(index) for index in range(2)]
    for partition in partitions:
        world.append(partition, b"a")
        world.append(partition, b"b")  # what was written last is not looked at again
    world.disk.flip_bit(partitions[0].local_log().active.log.path, MAGIC_AT)
    asked = [wanted(each) for each in partitions]
    for _ in range(2):
        corrupt, sound = read(asked, reader())
        assert (corrupt.error, corrupt.size_bytes) == (ErrorCode.CORRUPT_MESSAGE, 0)
        assert offsets(corrupt) == (-1, -1)
        assert (sound.error, sound.size_bytes > 0) == (ErrorCode.NONE, True)
    (told,) = caplog.records
    assert (told.exc_info, "orders-0 is corrupt" in told.getMessage()) == (None, True)
