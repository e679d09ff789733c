"""What is counted of requests, and what is made of it when somebody looks."""

from __future__ import annotations

from ottla.handlers.request_counts import RequestCounts
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import one_broker
from tests.unit.handlers.test_produce import NEWEST, produce, request, uses_shortcut
from tests.unit.storage.logs import batch
from tests.virtual_time import on_virtual_time

PRODUCE, FETCH, METADATA = 0, 1, 3
MS = 1_000_000


def test_who_is_answered_at_once_has_waited_for_nothing() -> None:
    times = RequestCounts().times(FETCH)
    times.answered(begun_ns=5 * MS, parked_ns=-1, now_ns=7 * MS)
    times.answered(begun_ns=10 * MS, parked_ns=11 * MS, now_ns=510 * MS)
    total, local, remote = times.total_ms(), times.local_ms(), times.remote_ms()
    assert (total.count, total.sum) == (2, 502)
    assert (local.count, local.sum) == (2, 3)
    assert (remote.count, remote.sum) == (2, 499)


def test_a_fetch_is_one_whoever_sent_it() -> None:
    counts = RequestCounts()
    counts.times(FETCH).size_bytes.observe(100)
    counts.times(FETCH, is_follower=True).size_bytes.observe(300)
    ((key, both),) = counts.all_times()
    assert (key, both.size_bytes.count, both.size_bytes.sum) == (FETCH, 2, 400)
    assert counts.times(FETCH).size_bytes.sum == 100


def test_produces_by_topic_count_by_version_when_the_topic_is_gone() -> None:
    counts = RequestCounts()
    counts.produces_to("orders", 9).count += 3
    counts.produces_to("orders", 8).count += 1
    counts.produces_to("payments", 9).count += 2
    assert counts.by_version == {(PRODUCE, 9): 5, (PRODUCE, 8): 1}
    assert counts.repeated_produces("orders") == 4
    assert counts.topic_deleted("orders") == 4
    assert counts.by_version == {(PRODUCE, 9): 5, (PRODUCE, 8): 1}
    assert counts.repeated_produces("orders") == 0


@on_virtual_time
async def test_both_ways_of_a_produce_count_by_topic() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        for _ in range(4):
            await produce(broker, request())
        assert uses_shortcut(broker)
        requests, traffic = broker.services.requests, broker.services.replicas.traffic
        assert requests.repeated_produces("orders") == 3
        assert traffic.of("orders").produces == 1
        assert requests.by_version[PRODUCE, NEWEST] == 4
        assert requests.times(PRODUCE).total_ms().count == 1


@on_virtual_time
async def test_what_is_too_large_is_counted_as_rejected_but_not_as_failed() -> None:
    async with one_broker({"message.max.bytes": "1000"}) as broker:
        await broker.create("orders")
        large = batch(bytes(2_000))
        answer = await produce(broker, request(large))
        assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE
        traffic = broker.services.replicas.traffic.of("orders")
        assert (traffic.bytes_rejected, traffic.failed_produces) == (len(large), 0)
        errors = broker.services.requests.errors
        assert errors == {(PRODUCE, ErrorCode.MESSAGE_TOO_LARGE): 1}


@on_virtual_time
async def test_errors_are_counted_where_an_answer_is_encoded_by_hand() -> None:
    async with one_broker() as broker:
        asked = MetadataRequest(
            topics=[MetadataRequestTopic(name="nowhere")], allow_auto_topic_creation=False
        )
        await broker.ask(asked, MetadataResponse, 9)
        errors = broker.services.requests.errors
        assert errors == {(METADATA, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION): 1}


def test_the_first_requests_are_timed_and_then_one_in_sixteen() -> None:
    counts = RequestCounts()
    timed = [number for number in range(1, 65) if counts.count(FETCH, 12)]
    assert timed == [*range(1, 17), 32, 48, 64]
    assert counts.by_version == {(FETCH, 12): 64}
