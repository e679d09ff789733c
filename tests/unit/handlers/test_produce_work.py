"""Batches that a thread looks through before they are appended; the thread is a queue here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import pytest

from ottla.protocol.apis.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_request
from ottla.protocol.records.compression import Codec
from ottla.storage.hop import Hop
from ottla.storage.threads import Inline
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.unit.handlers.test_produce import produce, request, uses_shortcut
from tests.unit.storage.logs import batch, contents
from tests.virtual_time import on_virtual_time

T = TypeVar("T")
COMPACTED = {"cleanup.policy": "compact"}


class Queue(Inline):
    """Works when told."""

    def __init__(self) -> None:
        self.works: list[Callable[[], None]] = []

    def submit(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)

        self.works.append(run)
        return future

    def run_works(self) -> None:
        works, self.works = self.works, []
        for work in works:
            work()


async def with_queue(broker: OneBroker, configs: dict[str, str] | None = None) -> Queue:
    await broker.create("orders", configs=COMPACTED if configs is None else configs)
    queue = Queue()
    broker.services.replicas.hop = Hop(queue, asyncio.get_running_loop().call_soon)
    return queue


def stored(broker: OneBroker) -> list[bytes | None]:
    log = broker.services.replicas.partitions["orders", 0].local_log()
    return [value for _, value in contents(log)]


def compressed(*values: bytes, key: bytes | None = b"k") -> bytes:
    return bytes(batch(*values, key=key, codec=Codec.GZIP))


@on_virtual_time
async def test_it_leaves_the_loop_to_others_and_no_later_request_overtakes_it() -> None:
    async with one_broker() as broker:
        queue = await with_queue(broker)
        await produce(broker, request(batch(b"0", key=b"k")))
        assert uses_shortcut(broker)
        asked = broker.client.ask(request(compressed(b"1", b"2")))
        after = broker.client.ask(request(batch(b"3", key=b"k")))
        broker.broker.tick.end()
        neighbour = OneBroker(broker.broker, broker.disk, broker.store)
        await neighbour.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert not asked.done()
        assert not after.done()
        assert stored(broker) == [b"0"]
        queue.run_works()
        for each, offset in ((asked, 1), (after, 3)):
            answer = await each
            assert isinstance(answer, ProduceResponse)
            assert answer.responses[0].partition_responses[0].base_offset == offset
        assert stored(broker) == [b"0", b"1", b"2", b"3"]


@on_virtual_time
async def test_records_without_keys_are_named_but_a_lost_leadership_comes_first() -> None:
    async with one_broker() as broker:
        queue = await with_queue(broker)
        for code in (ErrorCode.INVALID_RECORD, ErrorCode.NOT_LEADER_OR_FOLLOWER):
            asked = asyncio.ensure_future(produce(broker, request(compressed(b"a", key=None))))
            await broker.until(lambda: bool(queue.works))
            queue.run_works()
            if code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                broker.services.replicas.partitions["orders", 0].is_leader = False
            answer = await asked
            assert answer.error_code == code
            assert [each.batch_index for each in answer.record_errors] == (
                [0] if code is ErrorCode.INVALID_RECORD else []
            )


@on_virtual_time
async def test_the_topic_s_codec_is_in_the_log() -> None:
    async with one_broker() as broker:
        queue = await with_queue(broker, {"compression.type": "lz4"})
        asked = asyncio.ensure_future(produce(broker, request(compressed(b"a" * 1000))))
        await broker.until(lambda: bool(queue.works))
        queue.run_works()
        assert (await asked).error_code == 0
        log = broker.services.replicas.partitions["orders", 0].local_log()
        piece = log.read(0, max_bytes=4096, up_to=1)
        assert piece is not None
        assert piece.read()[22] & 7 == Codec.LZ4
        assert stored(broker) == [b"a" * 1000]


@on_virtual_time
async def test_who_has_gone_since_has_sent_it_all_the_same() -> None:
    async with one_broker() as broker:
        queue = await with_queue(broker)
        silent = request(compressed(b"a"), acks=0)
        broker.client.send(encode_request(silent, 9, correlation_id=1, client_id="test"))
        broker.client.connection.close()
        queue.run_works()
        await broker.settled()
        assert stored(broker) == [b"a"]


@on_virtual_time
async def test_a_bug_closes_the_connection_that_met_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with one_broker() as broker:
        queue = await with_queue(broker)
        told: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        monkeypatch.setattr("ottla.handlers.produce_work.prepare", lambda *_, **__: 1 // 0)
        broker.client.ask(request(compressed(b"a")))
        queue.run_works()
        await broker.until(lambda: broker.client.connection.is_closed)
        assert "ZeroDivisionError" in str(told)


@on_virtual_time
async def test_a_broker_that_stops_answers_first_what_a_thread_works_at() -> None:
    async with one_broker() as broker:
        queue = await with_queue(broker)
        broker.broker.hop = broker.services.replicas.hop
        asked = broker.client.ask(request(compressed(b"a")))
        asyncio.get_running_loop().call_later(1, queue.run_works)
        log = broker.services.replicas.partitions["orders", 0].local_log()
    assert asked.done()
    assert log.next_offset == 1
