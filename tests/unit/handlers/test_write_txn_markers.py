"""WriteTxnMarkers: ends of transactions from their coordinator, whichever broker that is on."""

from __future__ import annotations

import asyncio

import pytest

from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.record_set import read_batches
from ottla.protocol.schema import Message
from ottla.replication.partition import Partition
from tests.unit.handlers.group_client import coordinated
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, one_broker
from tests.unit.storage.logs import batch
from tests.virtual_time import on_virtual_time

E = ErrorCode
NONE = ErrorCode.NONE
Codes = dict[tuple[int, str, int], ErrorCode]


def marker(
    *partitions: int,
    topic: str = "orders",
    producer_id: int = 7,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    commits: bool = True,
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=commits,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=list(partitions))],
        coordinator_epoch=coordinator_epoch,
    )


def codes(answer: Message) -> Codes:
    assert isinstance(answer, WriteTxnMarkersResponse)
    return {
        (each.producer_id, topic.name, partition.partition_index): ErrorCode(partition.error_code)
        for each in answer.markers
        for topic in each.topics
        for partition in topic.partitions
    }


async def write(broker: OneBroker, *markers: WritableTxnMarker, version: int = 1) -> Codes:
    return codes(await broker.client.ask(WriteTxnMarkersRequest(markers=list(markers)), version))


def partition_of(broker: OneBroker, index: int = 0, topic: str = "orders") -> Partition:
    return broker.services.replicas.partitions[topic, index]


def send(broker: OneBroker, index: int = 0, *, producer_id: int = 7, epoch: int = 0) -> None:
    data = batch(
        b"x", producer_id=producer_id, producer_epoch=epoch, base_sequence=0, is_transactional=True
    )
    partition_of(broker, index).append(data, acks=-1, now_ms=NOW_MS)
    broker.broker.tick.end()


def last_marker(partition: Partition) -> ControlType:
    log = partition.local_log()
    piece = log.read(log.next_offset - 1, max_bytes=1000, up_to=log.next_offset)
    assert piece is not None
    [found] = read_batches(piece.read())
    assert found.is_control
    return read_control_type(found.records()[0].key)


@pytest.mark.parametrize("version", [0, 1])
@on_virtual_time
async def test_each_partition_gets_the_end_that_it_is_told(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        for index in (0, 1):
            send(broker, index)
            send(broker, index, producer_id=8)
        answer = await write(
            broker,
            marker(0, 1),
            marker(1, producer_id=8, commits=False),
            version=version,
        )
        assert answer == dict.fromkeys([(7, "orders", 0), (7, "orders", 1), (8, "orders", 1)], NONE)
        first, second = partition_of(broker), partition_of(broker, 1)
        assert (last_marker(first), last_marker(second)) == (ControlType.COMMIT, ControlType.ABORT)
        ends = [each.local_log().last_stable_offset for each in (first, second)]
        assert ends == [1, 4]


@on_virtual_time
async def test_what_cannot_be_written_is_told_partition_by_partition() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 3)
        send(broker, 1, epoch=4)
        partition_of(broker, 2).is_leader = False
        answer = await write(broker, marker(0, 1, 2, 9))
        assert [code.name for code in answer.values()] == [
            "NONE",
            "INVALID_PRODUCER_EPOCH",
            "NOT_LEADER_OR_FOLLOWER",
            "UNKNOWN_TOPIC_OR_PARTITION",
        ]
        again = await write(broker, marker(0, coordinator_epoch=5))
        assert list(again.values()) == [NONE]
        older = await write(broker, marker(0, coordinator_epoch=4))
        assert list(older.values()) == [E.TRANSACTION_COORDINATOR_FENCED]


@on_virtual_time
async def test_the_ends_of_one_producer_are_one_answer() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        request = WriteTxnMarkersRequest(markers=[marker(0), marker(1), marker(5)])
        answer = await broker.ask(request, WriteTxnMarkersResponse)
        [found] = answer.markers
        [topic] = found.topics
        indexes = [each.partition_index for each in topic.partitions]
        assert (found.producer_id, topic.name, indexes) == (7, "orders", [0, 1, 5])


@on_virtual_time
async def test_without_markers_or_with_none_that_can_be_written_the_answer_comes_too() -> None:
    async with one_broker() as broker:
        assert await write(broker) == {}
        nowhere = await write(broker, marker(0), marker(0, producer_id=8))
        assert set(nowhere.values()) == {E.UNKNOWN_TOPIC_OR_PARTITION}


@on_virtual_time
async def test_a_topic_of_an_old_format_has_no_transactions() -> None:
    old = {"inter.broker.protocol.version": "2.8", "log.message.format.version": "0.10.2"}
    async with one_broker(old) as broker:
        await broker.create("orders")
        answer = await write(broker, marker(0))
        assert list(answer.values()) == [E.UNSUPPORTED_FOR_MESSAGE_FORMAT]


@on_virtual_time
async def test_the_answer_waits_for_the_in_sync_replicas_as_long_as_a_request_may() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        partition = partition_of(broker)
        partition.isr = partition.replicas = (1, 2)
        request = WriteTxnMarkersRequest(markers=[marker(1), marker(0, producer_id=8)])
        waiting = broker.client.ask(request)
        await asyncio.sleep(29.9)
        assert not waiting.done()
        await asyncio.sleep(0.2)
        assert list(codes(waiting.result()).values()) == [NONE, E.REQUEST_TIMED_OUT]


@on_virtual_time
async def test_a_marker_in_the_offsets_log_is_told_to_the_groups() -> None:
    async with coordinated() as broker:
        told: list[tuple[int, int, bool]] = []
        coordinator = broker.services.groups

        def ended(partition: int, producer_id: int, *, is_commit: bool) -> None:
            told.append((partition, producer_id, is_commit))

        coordinator.transaction_ended = ended  # type: ignore[method-assign]
        await write(
            broker,
            marker(0, 1, 7, topic=GROUP_METADATA_TOPIC, commits=False),
            marker(1, topic=GROUP_METADATA_TOPIC, producer_id=8),
            marker(0, producer_id=9),
        )
        assert told == [(0, 7, False), (1, 7, False), (1, 8, True)]


@on_virtual_time
async def test_a_full_disk_ends_nothing_and_is_tried_again() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        send(broker)
        broker.disk.faults.capacity_bytes = 0
        assert list((await write(broker, marker(0))).values()) == [E.KAFKA_STORAGE_ERROR]
        assert partition_of(broker).local_log().last_stable_offset == 0
        broker.disk.faults.capacity_bytes = None
        assert list((await write(broker, marker(0))).values()) == [NONE]
        assert partition_of(broker).local_log().last_stable_offset == 2
