"""DescribeLogDirs and AlterReplicaLogDirs, against a whole broker with two log directories."""

from __future__ import annotations

import pytest

from ottla.handlers import HANDLERS
from ottla.protocol.apis.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.apis.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from ottla.protocol.errors import ErrorCode
from ottla.replication.partition import Partition
from ottla.storage.log import Log
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, one_broker
from tests.unit.storage.logs import batch, contents
from tests.virtual_time import on_virtual_time, virtual_loop


async def describe(
    broker: OneBroker, *wanted: tuple[str, int], version: int | None = None
) -> dict[str, DescribeLogDirsResult]:
    topics = [DescribableLogDirTopic(topic=name, partitions=[index]) for name, index in wanted]
    request = DescribeLogDirsRequest(topics=topics if wanted else None)
    answer = await broker.ask(request, DescribeLogDirsResponse, version)
    return {each.log_dir: each for each in answer.results}


async def move(broker: OneBroker, path: str, name: str = "orders", index: int = 0) -> int:
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path, topics=[AlterReplicaLogDirTopic(name=name, partitions=[index])]
            )
        ]
    )
    answer = await broker.ask(request, AlterReplicaLogDirsResponse)
    return answer.results[0].partitions[0].error_code


def partition_of(broker: OneBroker, index: int = 0) -> Partition:
    return broker.services.replicas.partitions["orders", index]


def produce(broker: OneBroker, *values: bytes) -> Log:
    """One batch a value."""
    partition = partition_of(broker)
    for value in values:
        partition.append(batch(value), acks=1, now_ms=NOW_MS)
        broker.broker.tick.end()
    return partition.local_log()


def throttle(broker: OneBroker, bytes_per_second: int) -> None:
    option = "replica.alter.log.dirs.io.max.bytes.per.second"
    broker.broker.overrides.set_this_broker({option: str(bytes_per_second)})


def folder(broker: OneBroker) -> str:
    directory = broker.broker.directories.find(("orders", 0))
    assert directory is not None
    return directory.path


def other(broker: OneBroker) -> str:
    return "/data/b" if folder(broker) == "/data/a" else "/data/a"


def has_moved(broker: OneBroker) -> bool:
    return not broker.broker.directories.moves


@pytest.mark.parametrize("version", range(HANDLERS[35][1] + 1))
@on_virtual_time
async def test_the_directories_are_described_with_what_is_in_them(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        size = produce(broker, b"a", b"b").size_bytes
        found = await describe(broker, version=version)
        assert list(found) == ["/data/a", "/data/b"]
        sizes = {
            (topic.name, each.partition_index): (each.partition_size, each.offset_lag)
            for result in found.values()
            for topic in result.topics
            for each in topic.partitions
        }
        assert sizes == {("orders", 0): (size, 0), ("orders", 1): (0, 0)}
        room = [(each.total_bytes, each.usable_bytes) for each in found.values()]
        assert all((-1 < usable < total) == (version >= 4) for total, usable in room)


@on_virtual_time
async def test_only_what_is_asked_for_is_described() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 4)
        found = await describe(broker, ("orders", 3), ("nobody", 0))
        described = [
            (topic.name, each.partition_index)
            for result in found.values()
            for topic in result.topics
            for each in topic.partitions
        ]
        assert described == [("orders", 3)]


@on_virtual_time
async def test_a_failed_directory_is_described_as_such() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        broker.disk.break_file(folder(broker))
        failed = folder(broker)
        found = await describe(broker)
        assert found[failed].error_code == ErrorCode.KAFKA_STORAGE_ERROR
        found = await describe(broker)  # and so for ever
        assert found[failed].error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert [each.error_code for each in found.values()].count(0) == 1


@on_virtual_time
async def test_a_partition_moves_while_it_is_written_and_read() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        log = produce(broker, *[bytes(5_000) for _ in range(1_000)])
        to_path = other(broker)
        topic_id = broker.broker.directories.online[folder(broker)].topic_id(("orders", 0))
        assert await move(broker, to_path) == 0
        await broker.until(
            lambda: broker.broker.directories.moves["orders", 0].future.size_bytes > 0
        )
        produce(broker, b"meanwhile")
        (future,) = (await describe(broker))[to_path].topics[0].partitions
        assert future.is_future_key
        assert 0 < future.offset_lag < 1_001
        await broker.until(lambda: has_moved(broker))
        moved = partition_of(broker).local_log()
        assert moved is not log
        assert folder(broker) == to_path
        assert (moved.next_offset, moved.high_watermark) == (1_001, 1_001)
        assert contents(moved)[-1] == (1_000, b"meanwhile")
        assert produce(broker, b"after").next_offset == 1_002
        assert broker.broker.directories.online[to_path].topic_id(("orders", 0)) == topic_id


@on_virtual_time
async def test_deleted_records_do_not_come_back_by_a_move() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        produce(broker, b"a", b"b", b"c")
        directory = broker.broker.directories.online[folder(broker)]
        directory.advance_start(("orders", 0), 2, now_ms=NOW_MS)
        await move(broker, other(broker))
        await broker.until(lambda: has_moved(broker))
        assert contents(partition_of(broker).local_log()) == [(2, b"c")]


@on_virtual_time
async def test_a_copy_follows_a_log_that_was_cut() -> None:
    async with one_broker() as broker:
        throttle(broker, 1_000_000)
        await broker.create("orders")
        produce(broker, *[bytes(1_000_000)] * 3)
        await move(broker, other(broker))
        future = broker.broker.directories.moves["orders", 0].future
        await broker.until(lambda: future.next_offset == 2)
        directory = broker.broker.directories.online[folder(broker)]
        directory.truncate(("orders", 0), 1, now_ms=NOW_MS)
        partition_of(broker).leader_epoch = 1
        partition_of(broker).local_log().start_epoch(1)
        produce(broker, b"other", b"records", b"here")
        await broker.until(lambda: has_moved(broker))
        moved = contents(partition_of(broker).local_log())
        assert moved[1:] == [(1, b"other"), (2, b"records"), (3, b"here")]


@on_virtual_time
async def test_a_throttled_move_takes_its_time() -> None:
    async with one_broker() as broker:
        throttle(broker, 1_000_000)
        await broker.create("orders")
        produce(broker, *[bytes(1_000_000)] * 5)
        started = virtual_loop().time()
        await move(broker, other(broker))
        await broker.until(lambda: has_moved(broker))
        assert 3 < virtual_loop().time() - started < 7


@on_virtual_time
async def test_a_move_to_where_it_is_or_goes_is_nothing_new() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        assert await move(broker, folder(broker)) == 0
        assert has_moved(broker)
        produce(broker, bytes(100))
        to_path = other(broker)
        await move(broker, to_path)
        under_way = broker.broker.directories.moves["orders", 0]
        await move(broker, to_path)
        assert broker.broker.directories.moves["orders", 0] is under_way
        assert await move(broker, folder(broker)) == 0  # back: the copy is given up
        assert has_moved(broker)
        assert broker.broker.directories.online[to_path].future_folders == {}


@on_virtual_time
async def test_a_deleted_partition_takes_its_copy_with_it() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        produce(broker, bytes(100))
        to_path = other(broker)
        await move(broker, to_path)
        broker.services.leadership.stop("orders", 0, leader_epoch=5, deletes=True)
        await broker.until(lambda: has_moved(broker))
        assert broker.broker.directories.find(("orders", 0)) is None
        assert broker.broker.directories.online[to_path].future_folders == {}


@on_virtual_time
async def test_a_full_disk_puts_a_move_off() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        produce(broker, bytes(100_000))
        to_path = other(broker)
        await move(broker, to_path)
        broker.disk.faults.capacity_bytes = 0
        lasted = virtual_loop().time() + 5
        await broker.until(lambda: virtual_loop().time() > lasted)
        assert not has_moved(broker)
        broker.disk.faults.capacity_bytes = None
        await broker.until(lambda: has_moved(broker))
        assert folder(broker) == to_path


@on_virtual_time
async def test_a_failed_disk_ends_a_move_and_the_partition_stays() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        produce(broker, bytes(100))
        to_path = other(broker)
        await move(broker, to_path)
        broker.disk.break_file(to_path)
        await broker.until(lambda: has_moved(broker))
        assert to_path in broker.broker.directories.offline
        assert produce(broker, b"more").next_offset == 2


@on_virtual_time
async def test_a_move_that_a_stop_cut_short_begins_anew() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        produce(broker, b"a", b"b")
        to_path = other(broker)
        await move(broker, to_path)
        disk, tree = broker.disk, broker.store._tree
    async with one_broker(disk=disk, tree=tree) as again:
        await again.until(lambda: ("orders", 0) in again.services.replicas.partitions)
        await again.until(lambda: folder(again) == to_path)
        assert contents(partition_of(again).local_log()) == [(0, b"a"), (1, b"b")]


@pytest.mark.parametrize(
    ("path", "name", "code"),
    [
        ("/data/c", "orders", ErrorCode.LOG_DIR_NOT_FOUND),
        ("/data/a", "nobody", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
@on_virtual_time
async def test_moves_that_cannot_be_are_refused(path: str, name: str, code: ErrorCode) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        assert await move(broker, path, name) == code


@on_virtual_time
async def test_nothing_moves_to_or_from_a_failed_directory() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        broker.disk.break_file("/data/a")
        await describe(broker)
        for index in range(2):
            assert await move(broker, "/data/a", index=index) == ErrorCode.KAFKA_STORAGE_ERROR
        lost = [i for i in range(2) if partition_of(broker, i).log is None]
        assert await move(broker, "/data/b", index=lost[0]) == ErrorCode.KAFKA_STORAGE_ERROR


@on_virtual_time
async def test_a_replica_that_is_yet_to_come_goes_where_it_is_wanted() -> None:
    async with one_broker() as broker:
        replicas = broker.services.replicas
        replicas.exists_elsewhere = lambda topic, index: True
        for index, path in enumerate(["/data/b", "/data/b", "/data/b"]):
            code = await move(broker, path, index=index)
            assert code == ErrorCode.REPLICA_NOT_AVAILABLE
        await broker.create("orders", 3)
        found = broker.broker.directories.online["/data/b"].folders
        assert list(found) == [("orders", index) for index in range(3)]
