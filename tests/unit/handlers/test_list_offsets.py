"""ListOffsets by time, where a log takes long to search."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ottla.handlers import slices
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.layout import MAGIC_AT
from ottla.replication.offsets import LATEST, MAX_TIMESTAMP
from ottla.replication.reading import CONSUMER, DEBUGGER
from ottla.storage.log import Log
from tests.unit.handlers.one_broker import OneBroker, lead, one_broker
from tests.unit.storage.logs import append
from tests.unit.storage.test_timestamp_search import LATE_MS, lie
from tests.virtual_time import on_virtual_time

LIES = 300


def question(timestamp: int, partitions: int = 1, replica_id: int = CONSUMER) -> ListOffsetsRequest:
    asked = [
        ListOffsetsPartition(partition_index=index, timestamp=timestamp)
        for index in range(partitions)
    ]
    topic = ListOffsetsTopic(name="orders", partitions=asked)
    return ListOffsetsRequest(replica_id=replica_id, isolation_level=0, topics=[topic])


async def log_that_lies(broker: OneBroker) -> Log:
    await broker.create("orders")
    log = broker.services.replicas.get("orders", 0).leading_log()
    lie(log, LIES)
    append(log, b"late", timestamp=LATE_MS)
    log.advance_high_watermark(log.next_offset)
    return log


@on_virtual_time
async def test_what_is_found_within_a_slice_is_answered_at_once() -> None:
    async with one_broker() as broker:
        await log_that_lies(broker)
        asked = broker.client.ask(question(LATE_MS))
        broker.broker.tick.end()
        assert asked.done()


@pytest.mark.parametrize("timestamp", [LATE_MS, MAX_TIMESTAMP])
@on_virtual_time
async def test_a_log_whose_headers_lie_is_searched_in_slices(
    monkeypatch: pytest.MonkeyPatch, timestamp: int
) -> None:
    async with one_broker() as broker:
        await log_that_lies(broker)
        monkeypatch.setattr(slices, "SLICE_MS", 0)  # each step is a slice of its own
        asked = broker.client.ask(question(timestamp))
        broker.broker.tick.end()
        assert not asked.done()
        response = await asked
        assert isinstance(response, ListOffsetsResponse)
        found = response.topics[0].partitions[0]
        assert (found.error_code, found.timestamp, found.offset) == (0, LATE_MS, LIES)


@on_virtual_time
async def test_a_partition_may_go_while_it_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    async with one_broker() as broker:
        await log_that_lies(broker)
        monkeypatch.setattr(slices, "SLICE_MS", 0)
        asked = broker.client.ask(question(LATE_MS))
        partition = broker.services.replicas.get("orders", 0)
        partition.is_leader = False
        response = await asked
        assert isinstance(response, ListOffsetsResponse)
        error_code = response.topics[0].partitions[0].error_code
        assert error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda broker, path: broker.disk.flip_bit(path, MAGIC_AT), ErrorCode.CORRUPT_MESSAGE),
        (lambda broker, path: broker.disk.break_file(path), ErrorCode.KAFKA_STORAGE_ERROR),
    ],
)
@on_virtual_time
async def test_one_log_that_cannot_be_searched_leaves_the_others_their_answers(
    damage: Callable[[OneBroker, str], None], code: ErrorCode
) -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=2)
        for index in range(2):
            log = broker.services.replicas.get("orders", index).leading_log()
            append(log, b"late", timestamp=LATE_MS)
            log.advance_high_watermark(log.next_offset)
        damaged = broker.services.replicas.get("orders", 0).leading_log()
        damage(broker, damaged.active.log.path)
        answer = await broker.ask(question(LATE_MS, partitions=2), ListOffsetsResponse)
        found = answer.topics[0].partitions
        assert [each.error_code for each in found] == [code, ErrorCode.NONE]
        assert [each.offset for each in found] == [-1, 0]


@pytest.mark.parametrize(
    ("replica_id", "code"),
    [(CONSUMER, ErrorCode.NOT_LEADER_OR_FOLLOWER), (DEBUGGER, ErrorCode.NONE)],
)
@pytest.mark.parametrize("version", [0, 1, 4, 9])
@on_virtual_time
async def test_a_follower_answers_only_those_who_debug_it(
    version: int, replica_id: int, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        append(broker.services.replicas.get("orders", 0).leading_log(), b"a")
        await lead(broker, "orders", leader=2, epoch=5)
        asked = question(LATEST, replica_id=replica_id)
        answer = await broker.ask(asked, ListOffsetsResponse, version)
        (found,) = answer.topics[0].partitions
        assert found.error_code == code
        asked.topics[0].partitions[0].current_leader_epoch = 4
        if version >= 4:
            (fenced,) = (await broker.ask(asked, ListOffsetsResponse)).topics[0].partitions
            assert fenced.error_code == ErrorCode.FENCED_LEADER_EPOCH
