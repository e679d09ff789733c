"""Quotas on what changes the cluster and on new connections."""

from __future__ import annotations

import asyncio

from ottla.network.client import BrokerClient
from ottla.protocol.apis.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.machines import on_a_broker
from tests.simulation.broker.quota_words import CLIENT, now_ms, set_quota
from tests.simulation.broker.test_limits import Raw

EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED


async def create(
    client: BrokerClient, *names: str, partitions: int = 11, version: int | None = None
) -> CreateTopicsResponse:
    topics = [
        CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
        )
        for name in names
    ]
    answer = await client.request(CreateTopicsRequest(topics=topics), version=version)
    assert isinstance(answer, CreateTopicsResponse)
    return answer


@on_a_broker()
async def test_too_many_new_partitions_are_refused_until_there_are_tokens_again(
    machine: SimulatedMachine,
) -> None:
    await set_quota(machine, CLIENT, controller_mutation_rate=1)
    client = await machine.connect()
    # Eleven tokens at most: the first may overdraw them, the second finds none.
    answer = await create(client, "a", "b", partitions=13)
    assert [each.error_code for each in answer.topics] == [ErrorCode.NONE, EXCEEDED]
    assert answer.throttle_time_ms == 2000
    assert "b" not in machine.broker.metadata.image.topics
    begun_ms = now_ms(machine)
    answer = await create(client, "b", partitions=1)
    assert now_ms(machine) == begun_ms + 2000
    assert (answer.topics[0].error_code, answer.throttle_time_ms) == (ErrorCode.NONE, 0)


@on_a_broker()
async def test_an_old_client_is_not_refused_but_throttled(machine: SimulatedMachine) -> None:
    await set_quota(machine, CLIENT, controller_mutation_rate=1)
    client = await machine.connect()
    answer = await create(client, "a", "b", partitions=13, version=5)
    assert [each.error_code for each in answer.topics] == [ErrorCode.NONE] * 2
    assert answer.throttle_time_ms == 15_000


@on_a_broker()
async def test_deleted_and_added_partitions_count_too(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    await create(client, "a", "b", "c")
    await set_quota(machine, CLIENT, controller_mutation_rate=1)
    doomed = [DeleteTopicState(name=name, topic_id=bytes(16)) for name in ("a", "b", "c")]
    deleted = await client.request(
        DeleteTopicsRequest(topics=doomed, topic_names=[], timeout_ms=1000)
    )
    assert isinstance(deleted, DeleteTopicsResponse)
    errors = {each.name: each.error_code for each in deleted.responses}
    assert errors == {"a": ErrorCode.NONE, "b": ErrorCode.NONE, "c": EXCEEDED}
    assert deleted.throttle_time_ms == 11_000
    more = CreatePartitionsTopic(name="c", count=12, assignments=None)
    request = CreatePartitionsRequest(topics=[more], timeout_ms=1000, validate_only=False)
    other = await machine.connect()  # the first one is muted, and shares its quota
    added = await other.request(request)
    assert isinstance(added, CreatePartitionsResponse)
    assert (added.results[0].error_code, added.throttle_time_ms) == (EXCEEDED, 11_000)


@on_a_broker()
async def test_what_is_only_validated_costs_nothing(machine: SimulatedMachine) -> None:
    await set_quota(machine, CLIENT, controller_mutation_rate=1)
    client = await machine.connect()
    topics = [
        CreatableTopic(
            name="a", num_partitions=50, replication_factor=1, assignments=[], configs=[]
        )
    ]
    for _ in range(3):
        answer = await client.request(CreateTopicsRequest(topics=topics, validate_only=True))
        assert isinstance(answer, CreateTopicsResponse)
        assert (answer.topics[0].error_code, answer.throttle_time_ms) == (ErrorCode.NONE, 0)


@on_a_broker(max_connection_creation_rate="1")
async def test_connections_beyond_the_brokers_rate_wait_to_be_accepted(
    machine: SimulatedMachine,
) -> None:
    begun_ms = now_ms(machine)
    for _ in range(10):
        await machine.connect()
    assert now_ms(machine) == begun_ms
    await machine.connect()
    assert now_ms(machine) == begun_ms + 1000  # 11 in ten seconds: a second too many
    machine.broker.server.stop_listening()


@on_a_broker(listener_name_plaintext_max_connection_creation_rate="1")
async def test_connections_beyond_the_listeners_rate_wait_to_be_accepted(
    machine: SimulatedMachine,
) -> None:
    begun_ms = now_ms(machine)
    for _ in range(11):
        await machine.connect()
    assert now_ms(machine) == begun_ms + 1000


@on_a_broker(max_connection_creation_rate="1")
async def test_a_broker_stops_while_connections_wait(machine: SimulatedMachine) -> None:
    for _ in range(10):
        await machine.connect()
    waiting = Raw(machine)
    await asyncio.sleep(0.5)
    await machine.stop()
    await waiting.lost.wait()


@on_a_broker()
async def test_connections_of_one_address_that_come_too_fast_are_closed_unheard(
    machine: SimulatedMachine,
) -> None:
    await set_quota(machine, {"ip": "10.0.0.7"}, connection_creation_rate=1)
    crowd = [Raw(machine, source="10.0.0.7") for _ in range(11)]
    other = await machine.connect(source="10.0.0.8")
    await asyncio.sleep(0.99)
    assert not any(each.lost.is_set() for each in crowd)
    await asyncio.sleep(0.02)
    assert sum(each.lost.is_set() for each in crowd) == 1
    assert other.is_open
    assert machine.broker.server.admission.refused == 1


@on_a_broker()
async def test_the_default_of_all_addresses_holds_for_each(machine: SimulatedMachine) -> None:
    await set_quota(machine, {"ip": None}, connection_creation_rate=1)
    await set_quota(machine, {"ip": "10.0.0.8"}, connection_creation_rate=1000)
    crowds = [[Raw(machine, source=f"10.0.0.{n}") for _ in range(11)] for n in (7, 8, 9)]
    await asyncio.sleep(2)
    assert [sum(each.lost.is_set() for each in crowd) for crowd in crowds] == [1, 0, 1]
