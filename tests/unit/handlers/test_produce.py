"""Produce: the long way and the short one give the same bytes; a failed write takes both back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ottla.handlers.produce_shortcut import ProduceShortcut
from ottla.protocol.apis.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_request, encode_response
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.records.compression import Codec
from ottla.storage.segment import AppendFields
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.unit.storage.logs import batch
from tests.virtual_time import on_virtual_time

SHORTCUT_FROM = 5
NEWEST = 11


def request(
    records: bytes | memoryview | None = None,
    *,
    acks: int = -1,
    topic: str = "orders",
    index: int = 0,
    timeout_ms: int = 1_000,
) -> ProduceRequest:
    data = bytes(batch(b"value")) if records is None else bytes(records)
    return ProduceRequest(
        transactional_id=None,
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=index, records=data)]
            )
        ],
    )


async def produce(
    broker: OneBroker, asked: ProduceRequest, version: int = NEWEST
) -> PartitionProduceResponse:
    answer = await broker.ask(asked, ProduceResponse, version)
    return answer.responses[0].partition_responses[0]


def expected(version: int, base_offset: int) -> bytes:
    partition = PartitionProduceResponse(index=0, base_offset=base_offset, log_start_offset=0)
    topic = TopicProduceResponse(name="orders", partition_responses=[partition])
    return encode_response(ProduceResponse(responses=[topic]), version, correlation_id=77)[4:]


def uses_shortcut(broker: OneBroker) -> bool:
    return isinstance(broker.client.connection.shortcut, ProduceShortcut)


@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("version", range(3, NEWEST + 1))
@on_virtual_time
async def test_both_ways_answer_with_the_bytes_of_the_schema(version: int, acks: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        broker.client.raw.clear()
        for _ in range(4):
            await produce(broker, request(acks=acks), version)
        wanted = [expected(version, offset) for offset in range(4)]
        if version < SHORTCUT_FROM:
            answers = [bytes(raw) for raw in broker.client.raw]
            assert len({len(each) for each in answers}) == 1
        else:
            assert broker.client.raw == wanted
        assert uses_shortcut(broker) == (version >= SHORTCUT_FROM)
        assert broker.services.requests.by_version[0, version] == 4


@pytest.mark.parametrize("size", [50, 120, 127, 128, 20_000, 3_000_000])
@on_virtual_time
async def test_the_short_way_finds_batches_of_every_length(size: int) -> None:
    async with one_broker({"message.max.bytes": "10000000"}) as broker:
        await broker.create("orders")
        for number in range(3):
            answer = await produce(broker, request(batch(bytes(size + number))))
            assert (answer.error_code, answer.base_offset) == (0, number)
        log = broker.services.replicas.partitions["orders", 0].local_log()
        assert log.next_offset == 3


@on_virtual_time
async def test_what_differs_takes_the_long_way_and_the_next_is_short_again() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        answers = [
            await produce(broker, request(), 11),
            await produce(broker, request(index=1), 11),
            await produce(broker, request(index=1), 9),
            await produce(broker, request(index=1, acks=1), 9),
            await produce(broker, request(index=0), 11),
        ]
        assert [(each.index, each.base_offset) for each in answers] == [
            (0, 0),
            (1, 0),
            (1, 1),
            (1, 2),
            (0, 1),
        ]


@pytest.mark.parametrize("is_short", [False, True])
@on_virtual_time
async def test_a_failed_write_takes_the_answers_of_its_tick_back(is_short: bool) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        if is_short:
            assert (await produce(broker, request())).error_code == 0
        assert uses_shortcut(broker) == is_short
        broker.disk.faults.capacity_bytes = 0
        broker.broker.tick.begin()
        waiting = [broker.client.ask(request()) for _ in range(3)]
        broker.broker.tick.end()
        answers = await asyncio.gather(*waiting)
        for answer in answers:
            assert isinstance(answer, ProduceResponse)
            (found,) = answer.responses[0].partition_responses
            assert found.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert (found.base_offset, found.log_append_time_ms) == (-1, -1)
            assert found.error_message
        broker.disk.faults.capacity_bytes = None
        assert (await produce(broker, request())).base_offset == int(is_short)


@pytest.mark.parametrize("is_short", [False, True])
@on_virtual_time
async def test_what_another_partition_s_disk_takes_along_is_not_acknowledged(
    is_short: bool,
) -> None:
    async with one_broker() as broker:
        await broker.create("orders", 4)
        folders = {
            index: broker.services.replicas.partitions["orders", index].local_log().folder
            for index in range(4)
        }
        first, second = [index for index, path in folders.items() if path.startswith("/data/a")]
        if is_short:
            for index in (first, second):
                assert (await produce(broker, request(index=index))).error_code == 0
        broker.disk.break_file(folders[first])
        broker.broker.tick.begin()
        waiting = [broker.client.ask(request(index=index)) for index in (first, second)]
        broker.broker.tick.end()
        for answer in await asyncio.gather(*waiting):
            assert isinstance(answer, ProduceResponse)
            (found,) = answer.responses[0].partition_responses
            assert found.error_code == ErrorCode.KAFKA_STORAGE_ERROR


@on_virtual_time
async def test_what_a_bug_keeps_from_the_log_is_not_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        assert (await produce(broker, request())).error_code == 0
        assert uses_shortcut(broker)

        def fail(*_: object, **__: object) -> None:
            raise AssertionError("a bug")

        partition = broker.services.replicas.partitions["orders", 0]
        monkeypatch.setattr(partition.local_log().active, "write", fail)
        broker.broker.tick.begin()
        waiting = broker.client.ask(request())
        with pytest.raises(AssertionError, match="a bug"):
            broker.broker.tick.end()
        answer = await waiting
        assert isinstance(answer, ProduceResponse)
        (found,) = answer.responses[0].partition_responses
        assert found.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert (await produce(broker, request())).error_code == ErrorCode.KAFKA_STORAGE_ERROR


@on_virtual_time
async def test_a_corrupt_batch_is_refused_either_way() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        bad = bytearray(batch(b"value"))
        bad[-1] ^= 1
        for _ in range(2):
            answer = await produce(broker, request(memoryview(bad)))
            assert answer.error_code == ErrorCode.CORRUPT_MESSAGE
            assert (await produce(broker, request())).error_code == 0


@pytest.mark.parametrize(
    ("epoch", "sequence", "code"),
    [
        (1, 5, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (0, 1, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
@on_virtual_time
async def test_what_the_short_way_refused_is_refused_for_the_same_reason_by_the_long(
    epoch: int, sequence: int, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")

        def sent(epoch: int, sequence: int) -> ProduceRequest:
            return request(batch(b"v", producer_id=7, producer_epoch=epoch, base_sequence=sequence))

        assert (await produce(broker, sent(1, 0))).error_code == 0
        assert uses_shortcut(broker)
        answer = await produce(broker, sent(epoch, sequence))
        assert (answer.error_code, answer.log_start_offset) == (code, 0)


@on_virtual_time
async def test_who_takes_turns_between_partitions_finds_the_short_way_of_each() -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=3)
        for number in range(3):
            for index in range(3):
                answer = await produce(broker, request(index=index))
                assert (answer.index, answer.error_code, answer.base_offset) == (index, 0, number)
        assert len(broker.services.shortcuts) == 3
        assert broker.services.requests.by_version[0, NEWEST] == 9


@on_virtual_time
async def test_short_ways_are_forgotten_with_their_topic() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        await produce(broker, request())
        assert broker.services.shortcuts
        state = DeleteTopicState(name="orders", topic_id=ZERO_UUID)
        deletion = DeleteTopicsRequest(topics=[state], timeout_ms=1_000)
        await broker.ask(deletion, DeleteTopicsResponse)
        await broker.settled()
        assert not broker.services.shortcuts


@on_virtual_time
async def test_the_short_way_does_not_outlive_its_partition() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        await produce(broker, request())
        broker.services.leadership.stop("orders", 0, leader_epoch=5, deletes=True)
        answer = await produce(broker, request())
        assert answer.error_code in (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        )


@pytest.mark.parametrize(
    ("asked", "version", "code"),
    [
        (request(topic="nobody"), 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (request(index=4), 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (request(acks=2), 9, ErrorCode.INVALID_REQUIRED_ACKS),
        (request(b"short"), 9, ErrorCode.INVALID_RECORD),
        (request(bytes(batch(b"v")) * 2), 9, ErrorCode.INVALID_RECORD),
        (request(batch(b"v", codec=Codec.ZSTD)), 6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (request(batch(b"v", codec=Codec.ZSTD)), 7, ErrorCode.NONE),
        (request(batch(bytes(2_000_000))), 9, ErrorCode.MESSAGE_TOO_LARGE),
    ],
)
@on_virtual_time
async def test_what_a_producer_may_not_do_is_refused(
    asked: ProduceRequest, version: int, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        assert (await produce(broker, asked, version)).error_code == code


@on_virtual_time
async def test_who_wants_no_answer_gets_none_and_is_cut_off_when_refused() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        silent = encode_request(request(acks=0), 9, correlation_id=1, client_id="test")
        broker.client.send(silent)
        answer = await produce(broker, request())
        assert answer.base_offset == 1
        wrong = request(acks=0, topic="nobody")
        broker.client.send(encode_request(wrong, 9, correlation_id=1, client_id="test"))
        await broker.until(lambda: broker.client.connection.is_closed)


@on_virtual_time
async def test_many_produces_in_one_tick_share_a_write_and_keep_their_order() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        log = broker.services.replicas.partitions["orders", 0].local_log()
        written: list[int] = []
        write = log.active.write

        def counted(appends: Sequence[AppendFields], *, now_ms: int) -> None:
            written.append(len(appends))
            write(appends, now_ms=now_ms)

        log.active.write = counted  # type: ignore[method-assign]
        broker.broker.tick.begin()
        waiting = [broker.client.ask(request()) for _ in range(20)]
        broker.broker.tick.end()
        answers = await asyncio.gather(*waiting)
        offsets = [
            answer.responses[0].partition_responses[0].base_offset
            for answer in answers
            if isinstance(answer, ProduceResponse)
        ]
        assert offsets == list(range(20))
        assert written == [20]
