"""What the controller says of a partition, and what a broker makes of it."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.storage.files import DiskFailed
from tests.unit.replication.partitions import TOPIC_ID, World
from tests.unit.storage.logs import contents
from tests.virtual_time import on_virtual_time


@on_virtual_time
async def test_a_new_partition_has_a_log_with_its_topics_id() -> None:
    world = World()
    partition = await world.led()
    assert (partition.is_leader, partition.leader_epoch, partition.isr) == (True, 0, (1,))
    assert world.directories.online["/data"].topic_id(("orders", 0)) == TOPIC_ID
    assert world.replicas.get("orders", 0) is partition


@pytest.mark.parametrize("epoch", [0, 1])
@on_virtual_time
async def test_an_epoch_that_is_not_newer_is_stale(epoch: int) -> None:
    world = World()
    partition = await world.led()
    await world.become(epoch=1)
    assert await world.become(epoch=epoch, leader=2) is ErrorCode.STALE_CONTROLLER_EPOCH
    assert partition.is_leader


@on_virtual_time
async def test_a_partition_that_is_not_for_this_broker_is_refused() -> None:
    world = World()
    code = await world.become(leader=2, isr=(2, 3), replicas=(2, 3))
    assert code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert world.replicas.partitions == {}


@on_virtual_time
async def test_a_topic_with_another_id_is_another_topic() -> None:
    world = World()
    await world.led()
    other = await world.become(epoch=1, topic_id=b"o" * 16)
    assert other is ErrorCode.INCONSISTENT_TOPIC_ID
    assert await world.become(epoch=1, topic_id=bytes(16)) is ErrorCode.NONE  # an old controller's


@on_virtual_time
async def test_leadership_comes_and_goes_with_its_epoch() -> None:
    world = World()
    partition = await world.led()
    world.append(partition, b"a")
    await world.become(epoch=4, leader=2, isr=(1, 2))
    with pytest.raises(KafkaError) as refused:
        world.append(partition, b"b")
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    await world.become(epoch=5, isr=(1, 2))
    world.append(partition, b"c")
    log = partition.local_log()
    assert [tuple(each) for each in log.epochs.entries] == [(0, 0), (5, 1)]
    assert log.high_watermark == 1  # the follower is yet to be heard of


@on_virtual_time
async def test_a_leader_alone_commits_what_it_has() -> None:
    world = World()
    partition = await world.led(isr=(1, 2))
    world.append(partition, b"a")
    assert partition.local_log().high_watermark == 0
    await world.become(epoch=1, isr=(1,), replicas=(1, 2))
    assert partition.local_log().high_watermark == 1


@on_virtual_time
async def test_a_stopped_partition_is_let_go_and_its_files_stay() -> None:
    world = World()
    world.append(await world.led(), b"a")
    assert world.leadership.stop("orders", 0, leader_epoch=1, deletes=False) is ErrorCode.NONE
    assert world.replicas.partitions == {}
    assert await world.become(epoch=2) is ErrorCode.NONE
    again = world.replicas.partitions["orders", 0]
    assert contents(again.local_log()) == [(0, b"a")]


@on_virtual_time
async def test_a_deleted_partition_begins_anew() -> None:
    world = World()
    world.append(await world.led(), b"a")
    assert world.leadership.stop("orders", 0, leader_epoch=-2, deletes=True) is ErrorCode.NONE
    assert world.directories.online["/data"].deleted_folders == [f"orders-0.{'ab' * 16}-delete"]
    assert await world.become(epoch=0, topic_id=b"n" * 16) is ErrorCode.NONE
    assert world.replicas.partitions["orders", 0].local_log().next_offset == 0


@on_virtual_time
async def test_a_stop_of_an_older_epoch_is_fenced() -> None:
    world = World()
    await world.led()
    await world.become(epoch=3)
    stop = world.leadership.stop
    assert stop("orders", 0, leader_epoch=2, deletes=True) is ErrorCode.FENCED_LEADER_EPOCH
    assert ("orders", 0) in world.replicas.partitions
    assert stop("orders", 0, leader_epoch=-1, deletes=True) is ErrorCode.NONE


@on_virtual_time
async def test_who_is_not_there_is_stopped_all_the_same() -> None:
    world = World()
    await world.led()
    stop = world.leadership.stop
    assert stop("orders", 7, leader_epoch=0, deletes=True) is ErrorCode.NONE
    # Its files, when the broker has not been told of the partition yet.
    del world.replicas.partitions["orders", 0]
    assert stop("orders", 0, leader_epoch=0, deletes=True) is ErrorCode.NONE
    assert world.directories.find(("orders", 0)) is None


@on_virtual_time
async def test_a_failed_disk_takes_its_partitions_and_no_others() -> None:
    world = World("/a", "/b")
    for index in range(4):
        await world.led(index)
    failed: list[tuple[str, int]] = []
    world.replicas.on_disk_failed = lambda path, lost: failed.append((path, len(lost)))
    world.replicas.disk_failed(DiskFailed("/a/orders-0", OSError("Input/output error")))
    assert failed == [("/a", 2)]
    lost = [each.index for each in world.replicas.partitions.values() if each.log is None]
    assert len(lost) == 2
    assert await world.become(lost[0], epoch=1) is ErrorCode.KAFKA_STORAGE_ERROR
    stop = world.leadership.stop
    code = stop("orders", lost[0], leader_epoch=1, deletes=False)
    assert code is ErrorCode.KAFKA_STORAGE_ERROR
    # Nobody knows whether an old partition is on the disk that failed; a new one is not.
    assert await world.become(8) is ErrorCode.KAFKA_STORAGE_ERROR
    assert await world.become(9, is_new=True) is ErrorCode.NONE


@on_virtual_time
async def test_a_disk_that_fails_while_a_log_is_opened_fails() -> None:
    world = World("/a", "/b")
    world.disk.break_file("/a")
    codes = [await world.become(index, is_new=True) for index in range(2)]
    assert codes.count(ErrorCode.KAFKA_STORAGE_ERROR) == 1
    assert list(world.directories.offline) == ["/a"]


@on_virtual_time
async def test_who_asks_for_what_is_not_here_hears_where_it_is() -> None:
    world = World()
    world.replicas.exists_elsewhere = lambda topic, index: topic == "orders" and index == 3
    with pytest.raises(KafkaError) as elsewhere:
        world.replicas.get("orders", 3)
    with pytest.raises(KafkaError) as nowhere:
        world.replicas.get("orders", 4)
    assert elsewhere.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert nowhere.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
