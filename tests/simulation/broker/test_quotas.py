"""Clients over their quota: what the answers say, and that nothing is read of them meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from ottla.network.client import BrokerClient, Disconnected
from ottla.protocol.apis.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ottla.protocol.apis.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.framing import encode_request
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.conversation import create_topic, produce, read_all, records_of
from tests.simulation.broker.machines import on_a_broker
from tests.simulation.broker.quota_words import (
    CLIENT,
    SPAN_MS,
    fetch,
    fetch_of,
    frame_bytes,
    now_ms,
    produce_of,
    set_quota,
    throttle_of,
)
from tests.simulation.broker.test_limits import Raw

EVERYTHING = MetadataRequest(topics=None)


async def limited(machine: SimulatedMachine, **values: float | None) -> BrokerClient:
    """A client with a quota, and its topic."""
    client = await machine.connect()
    await create_topic(client, "orders")
    await set_quota(machine, CLIENT, **values)
    return client


def expected_ms(size_bytes: int, bound: float) -> int:
    rate = size_bytes / (SPAN_MS / 1000)
    return int((rate - bound) / bound * SPAN_MS + 0.5)


@on_a_broker()
async def test_a_produce_over_the_quota_is_answered_at_once_and_the_next_one_late(
    machine: SimulatedMachine,
) -> None:
    client = await limited(machine, producer_byte_rate=100)
    request = produce_of(3000)
    begun_ms = now_ms(machine)
    throttle_ms = await throttle_of(client, request)
    assert throttle_ms == expected_ms(frame_bytes(client, request), 100) > 20_000
    assert now_ms(machine) == begun_ms
    assert isinstance(await client.request(EVERYTHING), MetadataResponse)
    assert now_ms(machine) == begun_ms + throttle_ms


@on_a_broker()
async def test_a_produce_within_the_quota_does_not_wait(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=1000)
    begun_ms = now_ms(machine)
    assert [await throttle_of(client, produce_of(1000)) for _ in range(5)] == [0] * 5
    assert now_ms(machine) == begun_ms


@on_a_broker()
async def test_the_rate_is_the_quotas_in_the_long_run(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=10_000)
    request = produce_of(20_000)
    begun_ms = now_ms(machine)
    for _ in range(100):
        await throttle_of(client, request)
    sent = 100 * frame_bytes(client, request)
    assert sent / (now_ms(machine) - begun_ms) * 1000 == pytest.approx(10_000, rel=0.15)


@on_a_broker()
async def test_requests_already_sent_wait_in_line(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    begun_ms = now_ms(machine)
    works = [asyncio.ensure_future(throttle_of(client, produce_of(2000))) for _ in range(3)]
    first = await works[0]
    assert now_ms(machine) == begun_ms
    second = await works[1]
    assert now_ms(machine) == begun_ms + first
    await works[2]
    assert now_ms(machine) == begun_ms + first + second
    assert len(await read_all(await machine.connect(client_id="other"), "orders")) == 3


@on_a_broker()
async def test_only_the_one_over_its_quota_suffers(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    other = await machine.connect(client_id="other")
    begun_ms = now_ms(machine)
    assert await throttle_of(client, produce_of(3000)) > 0
    assert await throttle_of(other, produce_of(3000)) == 0
    assert now_ms(machine) == begun_ms


@on_a_broker()
async def test_who_shares_a_quota_shares_its_use(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    await set_quota(machine, {"user": "ANONYMOUS"}, producer_byte_rate=400)
    first, second = await machine.connect(client_id="a"), await machine.connect(client_id="b")
    assert await throttle_of(first, produce_of(3000)) == 0
    assert await throttle_of(second, produce_of(3000)) > 0


@on_a_broker()
async def test_without_acks_the_producer_is_muted_all_the_same(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    raw = Raw(machine)
    request = produce_of(3000, acks=0)
    version = client.pick_version(type(request))
    for number in range(2):
        raw.transport.write(
            encode_request(request, version, correlation_id=number, client_id="client")
        )
    reader = await machine.connect(client_id="reader")
    begun_ms = now_ms(machine)
    assert len(await read_all(reader, "orders")) == 1
    rest_ms = expected_ms(frame_bytes(client, request), 100)
    await asyncio.sleep((rest_ms - 100) / 1000)
    assert len(await read_all(reader, "orders")) == 1
    await asyncio.sleep(0.2)
    assert len(await read_all(reader, "orders")) == 2
    assert now_ms(machine) - begun_ms < rest_ms + 200
    assert raw.received == 0


@on_a_broker()
async def test_a_new_quota_holds_for_who_is_connected_and_has_taken_the_shortcut(
    machine: SimulatedMachine,
) -> None:
    client = await machine.connect()
    await create_topic(client, "orders")
    for _ in range(3):
        assert await throttle_of(client, produce_of(3000)) == 0
    await set_quota(machine, CLIENT, producer_byte_rate=100)
    assert await throttle_of(client, produce_of(3000)) > 0


@on_a_broker()
async def test_a_quota_raised_while_muted_holds_afterwards(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    begun_ms = now_ms(machine)
    throttle_ms = await throttle_of(client, produce_of(3000))
    await set_quota(machine, CLIENT, producer_byte_rate=1e9)
    assert await throttle_of(client, produce_of(3000)) == 0
    assert now_ms(machine) == begun_ms + throttle_ms


@on_a_broker()
async def test_without_quotas_requests_are_not_counted_any_more(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100, request_percentage=1)
    counted = [machine.broker.services.quotas is not None]
    await set_quota(machine, CLIENT, producer_byte_rate=None, request_percentage=None)
    assert [*counted, machine.broker.services.quotas is not None] == [True, False]
    assert await throttle_of(client, produce_of(3000)) == 0


@on_a_broker()
async def test_quotas_are_there_after_a_restart(machine: SimulatedMachine) -> None:
    await limited(machine, producer_byte_rate=100)
    await machine.stop()
    await machine.start()
    assert await throttle_of(await machine.connect(), produce_of(3000)) > 0


@on_a_broker()
async def test_who_leaves_while_muted_leaves_nothing_behind(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    await throttle_of(client, produce_of(3000))
    deadlines = machine.broker.timer.size
    (door,) = machine.broker.server.connections.values()
    assert door.connection.is_muted
    door.connection.close()
    assert machine.broker.timer.size == deadlines - 1
    with pytest.raises(Disconnected):
        await client.request(EVERYTHING)


@on_a_broker()
async def test_a_client_that_went_away_while_muted_is_noticed_when_it_may_speak_again(
    machine: SimulatedMachine,
) -> None:
    client = await limited(machine, producer_byte_rate=100)
    throttle_ms = await throttle_of(client, produce_of(3000))
    client.close()
    await asyncio.sleep(throttle_ms / 1000 + 0.01)
    assert machine.broker.server.connections == {}


@on_a_broker(connections_max_idle_ms="5000")
async def test_who_is_muted_is_not_idle(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    assert await throttle_of(client, produce_of(3000)) > 20_000
    assert isinstance(await client.request(EVERYTHING), MetadataResponse)


@on_a_broker()
async def test_a_broker_stops_while_clients_are_muted(machine: SimulatedMachine) -> None:
    client = await limited(machine, producer_byte_rate=100)
    await throttle_of(client, produce_of(3000))
    waiting = asyncio.ensure_future(throttle_of(client, produce_of(3000)))
    begun_ms = now_ms(machine)
    await machine.stop()
    assert now_ms(machine) - begun_ms < 1000
    with pytest.raises(Disconnected):
        await waiting


@on_a_broker()
async def test_a_fetch_over_the_quota_gets_nothing_now_and_everything_later(
    machine: SimulatedMachine,
) -> None:
    client = await limited(machine, consumer_byte_rate=1000)
    for _ in range(2):
        await produce(client, "orders", bytes(4000))
    first = await fetch(client, fetch_of())
    assert (first.throttle_time_ms, len(first.responses)) == (0, 1)
    begun_ms = now_ms(machine)
    second = await fetch(client, fetch_of())
    assert second.throttle_time_ms > 0
    assert second.responses == []
    third = await fetch(client, fetch_of())
    assert now_ms(machine) == begun_ms + second.throttle_time_ms
    assert third.throttle_time_ms > 0  # too early by a little: the samples are still the old ones
    await asyncio.sleep(12)
    fourth = await fetch(client, fetch_of())
    assert (fourth.throttle_time_ms, len(fourth.responses)) == (0, 1)


@on_a_broker()
async def test_no_fetch_finds_more_than_its_quota_ever_allows(machine: SimulatedMachine) -> None:
    client = await limited(machine, consumer_byte_rate=500)
    for _ in range(5):
        await produce(client, "orders", bytes(2000))
    # Ten seconds' worth of records, and a few bytes around them: those few are waited for.
    first = await fetch(client, fetch_of())
    assert 0 < first.throttle_time_ms < 200
    answer = await fetch(client, fetch_of())
    assert answer.throttle_time_ms == 0
    assert len(records_of(answer.responses[0].partitions[0])) == 5000


@on_a_broker()
async def test_a_throttled_fetch_starts_no_session_and_loses_none(
    machine: SimulatedMachine,
) -> None:
    client = await limited(machine, consumer_byte_rate=1000)
    await produce(client, "orders", bytes(6000))
    begun = await fetch(client, fetch_of(epoch=0))
    assert begun.session_id > 0
    throttled = await fetch(client, fetch_of(epoch=0))
    assert (throttled.session_id, throttled.responses) == (0, [])
    assert throttled.throttle_time_ms > 0
    assert len(machine.broker.services.sessions) == 1
    again = await fetch(client, fetch_of(session_id=begun.session_id, epoch=1))
    assert (again.session_id, again.responses) == (begun.session_id, [])
    await asyncio.sleep(12)
    records = await fetch(client, fetch_of(session_id=begun.session_id, epoch=2))
    assert len(records.responses) == 1


def let_requests_take(machine: SimulatedMachine, *, ms: int) -> None:
    """A request looks at the clock when it begins and when it is answered."""
    looks = iter(range(0, 10**15, ms * 1_000_000))
    machine.broker.timer.now_ns = lambda: next(looks)  # type: ignore[method-assign]


@on_a_broker()
async def test_followers_are_exempt(machine: SimulatedMachine) -> None:
    client = await limited(machine, consumer_byte_rate=1, request_percentage=0.0001)
    await produce(client, "orders", bytes(6000))
    request = fetch_of()
    request.replica_id = 1
    let_requests_take(machine, ms=100)
    assert (await fetch(await machine.connect(), request)).throttle_time_ms == 0


@on_a_broker()
async def test_who_takes_more_of_the_brokers_time_than_its_share_rests_a_second_at_most(
    machine: SimulatedMachine,
) -> None:
    client = await limited(machine, request_percentage=10)
    let_requests_take(machine, ms=250)
    begun_ms = now_ms(machine)
    throttled = []
    for _ in range(6):
        answer = await client.request(EVERYTHING)
        assert isinstance(answer, MetadataResponse)
        throttled.append(answer.throttle_time_ms)
    # 25 % of a second each, measured over ten seconds: 10 % are used up by four.
    assert throttled[:4] == [0, 0, 0, 0]
    assert throttled[4:] == [1000, 1000]
    assert now_ms(machine) == begun_ms + 1000


@on_a_broker()
async def test_the_time_counts_that_an_answer_takes_and_not_what_it_waits_for(
    machine: SimulatedMachine,
) -> None:
    client = await limited(machine, request_percentage=10)
    let_requests_take(machine, ms=2000)
    question = DescribeClientQuotasRequest(components=[], strict=False)
    answer = await client.request(question)  # by a handler that awaits the store
    assert isinstance(answer, DescribeClientQuotasResponse)
    assert answer.throttle_time_ms == 1000
    machine.broker.timer.now_ns = lambda: now_ms(machine) * 1_000_000  # type: ignore[method-assign]
    await asyncio.sleep(20)
    waited = fetch_of(offset=0)
    waited.max_wait_ms = 5000
    begun_ms = now_ms(machine)
    assert (await fetch(client, waited)).throttle_time_ms == 0
    assert now_ms(machine) == begun_ms + 5000
