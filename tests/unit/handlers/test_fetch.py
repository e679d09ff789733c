"""Fetch in every version: names and ids, sessions, what old readers get, and who waits."""

from __future__ import annotations

import asyncio
from errno import EIO

import pytest

from ottla.handlers import HANDLERS
from ottla.protocol.apis.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.apis.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.records.batch import BATCH_OVERHEAD
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.disk import SimulatedFile
from ottla.storage.files import DiskFailed
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, one_broker
from tests.unit.storage.logs import batch
from tests.virtual_time import on_virtual_time, virtual_loop

NEWEST = HANDLERS[1][1]
BY_ID_FROM = 13
SESSIONS_FROM = 7
PIECE_BYTES = 8 * 1024  # a log is searched in such


def append(broker: OneBroker, *values: bytes, codec: Codec = Codec.NONE) -> None:
    partition = broker.services.replicas.partitions["orders", 0]
    partition.append(batch(*values, codec=codec), acks=1, now_ms=NOW_MS)
    broker.broker.tick.end()


async def fetch(
    broker: OneBroker,
    version: int = NEWEST,
    *,
    offset: int = 0,
    topic_id: bytes | None = None,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    session: tuple[int, int] = (0, -1),
) -> FetchResponse:
    known = broker.services.metadata.image.topics.get("orders")
    found_id = topic_id or (known.topic_id if known else ZERO_UUID)
    by_id = version >= BY_ID_FROM
    topic = FetchTopic(
        topic="" if by_id else "orders",
        topic_id=found_id if by_id else ZERO_UUID,
        partitions=[FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10_000)],
    )
    asked = FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        topics=[] if session[1] > 0 else [topic],
        session_id=session[0] if version >= SESSIONS_FROM else 0,
        session_epoch=session[1] if version >= SESSIONS_FROM else -1,
    )
    return await broker.ask(asked, FetchResponse, version)


def old_question(partitions: int, max_bytes: int = 10_000_000) -> FetchRequest:
    """As a consumer of before 0.11 asks, from the start of each log."""
    asked = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=max_bytes)
        for index in range(partitions)
    ]
    topic = FetchTopic(topic="orders", partitions=asked)
    return FetchRequest(max_wait_ms=700, min_bytes=1, topics=[topic])


def only(answer: FetchResponse) -> PartitionData:
    (topic,) = answer.responses
    (found,) = topic.partitions
    return found


def values(found: PartitionData) -> list[bytes | None]:
    assert isinstance(found.records, bytes | memoryview | bytearray)
    batches = read_batches(bytes(found.records))
    return [record.value for each in batches for record in each.records()]


@pytest.mark.parametrize("version", range(NEWEST + 1))
@on_virtual_time
async def test_every_version_reads_the_records_in_a_format_it_knows(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        append(broker, b"a", b"b")
        found = only(await fetch(broker, version))
        assert (found.error_code, found.high_watermark) == (0, 2)
        assert values(found) == [b"a", b"b"]
        assert isinstance(found.records, bytes | memoryview)
        magics = [each.magic for each in read_batches(bytes(found.records))]
        assert set(magics) == {0 if version < 2 else 1 if version < 4 else 2}


@pytest.mark.parametrize(("version", "code"), [(3, ErrorCode.UNSUPPORTED_VERSION), (4, 0)])
@on_virtual_time
async def test_a_topic_may_refuse_to_convert(version: int, code: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders", configs={"message.downconversion.enable": "false"})
        append(broker, b"a")
        found = only(await fetch(broker, version))
        assert (found.error_code, bool(found.records)) == (code, not code)


@pytest.mark.parametrize(
    ("version", "code"), [(9, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (10, 0)]
)
@on_virtual_time
async def test_zstd_is_for_those_who_know_it(version: int, code: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders", configs={"compression.type": "zstd"})
        append(broker, b"a", codec=Codec.ZSTD)
        found = only(await fetch(broker, version))
        assert (found.error_code, bool(found.records)) == (code, not code)


@on_virtual_time
async def test_an_id_that_no_topic_has_is_unknown() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        found = only(await fetch(broker, topic_id=b"x" * 16))
        assert found.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@on_virtual_time
async def test_a_session_tells_only_what_is_new() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        first = await fetch(broker, session=(0, 0))
        assert first.session_id > 0
        nothing = await fetch(broker, session=(first.session_id, 1))
        assert (nothing.session_id, nothing.responses) == (first.session_id, [])
        append(broker, b"a")
        news = await fetch(broker, session=(first.session_id, 2))
        assert values(only(news)) == [b"a"]
        lost = await fetch(broker, session=(first.session_id, 9))
        assert lost.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert (lost.session_id, lost.responses) == (0, [])
        gone = await fetch(broker, session=(12_345, 1))
        assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@on_virtual_time
async def test_a_fetch_of_an_empty_topic_waits() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        started = virtual_loop().time()
        found = only(await fetch(broker, max_wait_ms=700))
        assert (found.records, found.error_code) == (b"", 0)
        assert virtual_loop().time() - started == pytest.approx(0.7, abs=0.01)
        assert broker.services.replicas.fetches.delayed == 0


@on_virtual_time
async def test_a_fetch_that_waits_is_answered_before_another_question_with_what_there_is() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        append(broker, b"a")
        started = virtual_loop().time()
        parked = asyncio.ensure_future(fetch(broker, max_wait_ms=700, min_bytes=5_000))
        await broker.until(lambda: broker.services.replicas.fetches.delayed == 1)
        waited = virtual_loop().time() - started
        await broker.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert parked.done(), "in the order they were asked"
        assert values(only(parked.result())) == [b"a"]
        assert virtual_loop().time() - started == waited
        assert broker.services.replicas.fetches.delayed == 0


@on_virtual_time
async def test_a_fetch_that_waits_does_not_give_way_to_another_one() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        started = virtual_loop().time()
        both = [asyncio.ensure_future(fetch(broker, max_wait_ms=700)) for _ in range(2)]
        await both[0]
        assert virtual_loop().time() - started == pytest.approx(0.7, abs=0.01)
        await both[1]
        assert virtual_loop().time() - started == pytest.approx(1.4, abs=0.01)


@pytest.mark.parametrize("version", [0, 4, 11, 12, NEWEST])
@on_virtual_time
async def test_an_offset_out_of_range_says_so_at_once(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        found = only(await fetch(broker, version, offset=5, max_wait_ms=60_000))
        assert found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert found.high_watermark == -1


@pytest.mark.parametrize("version", [0, 2, 3, 4, NEWEST])
@on_virtual_time
async def test_no_version_gets_more_than_the_broker_s_limit(version: int) -> None:
    async with one_broker({"fetch.max.bytes": "1024"}) as broker:
        await broker.create("orders")
        for _ in range(4):
            append(broker, bytes(400))
        found = only(await fetch(broker, version))
        assert isinstance(found.records, bytes | memoryview)
        assert 400 < len(found.records) <= 1024


@on_virtual_time
async def test_a_conversion_leaves_the_loop_to_the_others() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        append(broker, b"a")
        asked = broker.client.ask(old_question(1), 3)
        broker.broker.tick.end()
        assert not asked.done()
        response = await asked
        assert isinstance(response, FetchResponse)
        assert values(only(response)) == [b"a"]


@on_virtual_time
async def test_a_log_that_cannot_be_converted_leaves_the_others_their_answers() -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=2)
        for index in range(2):
            partition = broker.services.replicas.partitions["orders", index]
            partition.append(batch(b"a"), acks=1, now_ms=NOW_MS)
        broker.broker.tick.end()
        damaged = broker.services.replicas.partitions["orders", 0].leading_log()
        broker.disk.flip_bit(damaged.active.log.path, BATCH_OVERHEAD + 2)
        answer = await broker.ask(old_question(2), FetchResponse, 3)
        corrupt, sound = answer.responses[0].partitions
        assert (corrupt.error_code, corrupt.records) == (ErrorCode.CORRUPT_MESSAGE, b"")
        assert corrupt.high_watermark == -1
        assert (sound.error_code, values(sound)) == (0, [b"a"])


@on_virtual_time
async def test_a_disk_that_fails_under_a_conversion_fails_neither_the_write_nor_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=2)
        replicas = broker.services.replicas
        asked = broker.client.ask(old_question(2), 3)
        await broker.until(lambda: replicas.fetches.delayed == 1)
        written = replicas.partitions["orders", 0]
        path = written.leading_log().active.log.path

        read = SimulatedFile.read

        def fail(file: SimulatedFile, position: int, length: int) -> bytes:
            if file.path == path and length > PIECE_BYTES:  # to find the batch was possible still
                raise DiskFailed(path, OSError(EIO, "Input/output error"))
            return read(file, position, length)

        monkeypatch.setattr(SimulatedFile, "read", fail)
        other = replicas.partitions["orders", 1]
        for partition in (written, other):
            partition.append(batch(bytes(2 * PIECE_BYTES)), acks=1, now_ms=NOW_MS)
        broker.broker.tick.end()
        response = await asked
        assert isinstance(response, FetchResponse)
        failed, sound = response.responses[0].partitions
        assert failed.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert sound.error_code == 0
        assert (written.log, other.leading_log().next_offset) == (None, 1)
