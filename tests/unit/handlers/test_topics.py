"""CreateTopics, DeleteTopics and CreatePartitions, against a whole broker."""

from __future__ import annotations

import asyncio

import pytest

from ottla.handlers import HANDLERS
from ottla.protocol.apis.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.primitives import ZERO_UUID
from ottla.store import paths
from tests.unit.handlers.one_broker import OneBroker, one_broker, topic
from tests.virtual_time import on_virtual_time, virtual_loop

CREATE, DELETE, MORE = 19, 20, 37


async def create(
    broker: OneBroker,
    *topics: CreatableTopic,
    version: int | None = None,
    validate_only: bool = False,
    timeout_ms: int = 5_000,
) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(
        topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
    )
    return (await broker.ask(request, CreateTopicsResponse, version)).topics


async def delete(
    broker: OneBroker, *names: str, version: int = 5, timeout_ms: int = 5_000
) -> list[int]:
    if version >= 6:
        states = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
        request = DeleteTopicsRequest(topics=states, timeout_ms=timeout_ms)
    else:
        request = DeleteTopicsRequest(topic_names=list(names), timeout_ms=timeout_ms)
    response = await broker.ask(request, DeleteTopicsResponse, version)
    return [each.error_code for each in response.responses]


async def add_partitions(
    broker: OneBroker,
    name: str,
    count: int,
    *,
    validate_only: bool = False,
    timeout_ms: int = 5_000,
) -> int:
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)],
        timeout_ms=timeout_ms,
        validate_only=validate_only,
    )
    response = await broker.ask(request, CreatePartitionsResponse)
    return response.results[0].error_code


def leaders(broker: OneBroker, name: str) -> list[int]:
    known = broker.services.metadata.image.topics.get(name)
    return [each.leader for each in known.partitions] if known else []


@pytest.mark.parametrize("version", range(HANDLERS[CREATE][1] + 1))
@on_virtual_time
async def test_a_topic_is_answered_when_its_partitions_have_leaders(version: int) -> None:
    async with one_broker() as broker:
        (result,) = await create(broker, topic("orders", 3), version=version)
        assert (result.name, result.error_code) == ("orders", 0)
        assert leaders(broker, "orders") == [1, 1, 1]


@on_virtual_time
async def test_a_new_topic_is_answered_with_its_id_sizes_and_configs() -> None:
    async with one_broker({"log.retention.ms": "18000000"}) as broker:
        (result,) = await create(broker, topic("orders", 2, configs={"segment.bytes": "5000"}))
        assert result.topic_id == broker.services.metadata.image.topics["orders"].topic_id
        assert (result.num_partitions, result.replication_factor) == (2, 1)
        configs = {each.name: (each.value, each.config_source) for each in result.configs or []}
        assert configs["segment.bytes"] == ("5000", 1)
        assert configs["retention.ms"] == ("18000000", 4)
        assert configs["cleanup.policy"] == ("delete", 5)


@on_virtual_time
async def test_what_is_only_validated_is_not_created() -> None:
    async with one_broker() as broker:
        (result,) = await create(broker, topic("orders", 2), validate_only=True)
        assert (result.error_code, result.num_partitions) == (0, 2)
        assert result.topic_id == ZERO_UUID
        assert result.configs
        assert await broker.store.read(paths.topic("orders")) is None


@on_virtual_time
async def test_each_topic_of_a_request_has_its_own_fate() -> None:
    async with one_broker() as broker:
        await broker.create("there")
        results = await create(
            broker,
            topic("good"),
            topic("there"),
            topic("no/name"),
            topic("twice"),
            topic("twice"),
            topic("many", replication_factor=3),
            topic("odd", configs={"cleanup.policy": "burn"}),
        )
        assert {each.name: each.error_code for each in results} == {
            "good": ErrorCode.NONE,
            "there": ErrorCode.TOPIC_ALREADY_EXISTS,
            "no/name": ErrorCode.INVALID_TOPIC_EXCEPTION,
            "twice": ErrorCode.INVALID_REQUEST,
            "many": ErrorCode.INVALID_REPLICATION_FACTOR,
            "odd": ErrorCode.INVALID_CONFIG,
        }
        assert all(each.error_message for each in results if each.error_code)
        assert leaders(broker, "good") == [1]


@on_virtual_time
async def test_a_creation_that_takes_too_long_is_answered_at_its_time() -> None:
    async with one_broker() as broker:
        broker.broker.metadata.on_change.clear()  # nobody hears that the topic has a leader
        update = broker.broker.metadata.update
        broker.broker.metadata.update = lambda request: ()  # type: ignore[method-assign]
        started = virtual_loop().time()
        (result,) = await create(broker, topic("orders"), timeout_ms=3_000)
        assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
        assert virtual_loop().time() - started == pytest.approx(3, abs=0.01)
        broker.broker.metadata.update = update  # type: ignore[method-assign]


@on_virtual_time
async def test_who_does_not_wait_hears_a_timeout_and_the_topic_comes() -> None:
    async with one_broker() as broker:
        (result,) = await create(broker, topic("orders"), timeout_ms=0)
        assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
        await broker.settled()
        assert leaders(broker, "orders") == [1]


@on_virtual_time
async def test_only_the_controller_creates_deletes_and_grows_topics() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        broker.broker.controller._resign()
        not_controller = ErrorCode.NOT_CONTROLLER
        results = await create(broker, topic("a"), topic("b"))
        assert [each.error_code for each in results] == [not_controller] * 2
        assert await delete(broker, "orders", "more") == [not_controller] * 2
        assert await add_partitions(broker, "orders", 5) == not_controller


@pytest.mark.parametrize("version", range(HANDLERS[DELETE][1] + 1))
@on_virtual_time
async def test_a_deletion_is_answered_when_the_topic_is_gone(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        assert await delete(broker, "orders", "never", version=version) == [
            ErrorCode.NONE,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ]
        assert "orders" not in broker.services.metadata.image.topics
        await broker.settled()
        assert await broker.store.read(paths.topic("orders")) is None


@on_virtual_time
async def test_a_topic_is_deleted_by_its_id() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        topic_id = broker.services.metadata.image.topics["orders"].topic_id
        request = DeleteTopicsRequest(
            topics=[
                DeleteTopicState(topic_id=topic_id),
                DeleteTopicState(topic_id=b"x" * 16),
            ],
            timeout_ms=1_000,
        )
        found, unknown = (await broker.ask(request, DeleteTopicsResponse)).responses
        assert (found.name, found.topic_id, found.error_code) == ("orders", topic_id, 0)
        assert (unknown.name, unknown.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
@on_virtual_time
async def test_deletion_may_be_switched_off(version: int, code: ErrorCode) -> None:
    async with one_broker({"delete.topic.enable": "false"}) as broker:
        await broker.create("orders")
        assert await delete(broker, "orders", version=version) == [code]
        assert leaders(broker, "orders") == [1]


@on_virtual_time
async def test_more_partitions_are_answered_when_they_have_leaders() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        assert await add_partitions(broker, "orders", 5, validate_only=True) == 0
        assert len(leaders(broker, "orders")) == 2
        assert await add_partitions(broker, "orders", 5) == 0
        assert leaders(broker, "orders") == [1] * 5
        assert await add_partitions(broker, "orders", 5) == ErrorCode.INVALID_PARTITIONS
        assert await add_partitions(broker, "no", 5) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@on_virtual_time
async def test_a_waiting_creation_lets_no_later_request_overtake_it() -> None:
    async with one_broker() as broker:
        first = broker.client.ask(CreateTopicsRequest(topics=[topic("a")]))
        second = broker.client.ask(CreateTopicsRequest(topics=[topic("a")]))
        await asyncio.gather(first, second)
        answers = [first.result(), second.result()]
        assert all(isinstance(each, CreateTopicsResponse) for each in answers)
        codes = [each.topics[0].error_code for each in answers]  # type: ignore[attr-defined]
        assert codes == [ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS]


@on_virtual_time
async def test_a_stopping_broker_answers_who_waits() -> None:
    async with one_broker() as broker:
        broker.broker.metadata.update = lambda request: ()  # type: ignore[method-assign]
        waiting = broker.client.ask(CreateTopicsRequest(topics=[topic("a")]))
        await broker.until(lambda: broker.services.topic_operations.delayed == 1)
    response = await waiting
    assert isinstance(response, CreateTopicsResponse)
    assert response.topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT
