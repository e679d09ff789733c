"""A policy of the operator's that fails itself: a refusal, and never the end of the broker."""

from __future__ import annotations

import logging

import pytest

from ottla.config.alterations import Operation
from ottla.config.option import ConfigError
from ottla.handlers.config_target import ResourceType
from ottla.protocol.apis import incremental_alter_configs as incremental
from ottla.protocol.apis.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import OneBroker, one_broker, topic
from tests.virtual_time import on_virtual_time

CARELESS = "tests.unit.handlers.policies.Careless"


def stacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged with a stack."""
    return [each.getMessage() for each in caplog.records if each.exc_info]


async def metadata(broker: OneBroker, name: str) -> int:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
    answer = await broker.ask(request, MetadataResponse)
    return answer.topics[0].error_code


@on_virtual_time
async def test_a_topic_policy_that_fails_refuses_that_topic(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with one_broker({"create.topic.policy.class.name": CARELESS}) as broker:
        request = CreateTopicsRequest(topics=[topic("views"), topic("orders")])
        results = (await broker.ask(request, CreateTopicsResponse)).topics
        codes = [each.error_code for each in results]
        assert codes == [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE]
        assert results[0].error_message == (
            "create.topic.policy.class.name: the policy failed; the broker's log says why"
        )
    assert stacks(caplog) == [f"the policy {CARELESS} failed"]


@on_virtual_time
async def test_a_topic_that_a_client_only_asks_for_meets_the_same_policy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with one_broker({"create.topic.policy.class.name": CARELESS}) as broker:
        for _ in range(2):
            assert await metadata(broker, "views") == ErrorCode.LEADER_NOT_AVAILABLE
            await broker.settled()
        await broker.create("orders")
    assert stacks(caplog) == [f"the policy {CARELESS} failed"] * 2


@on_virtual_time
async def test_a_policy_on_changes_that_fails_refuses_that_change() -> None:
    async with one_broker({"alter.config.policy.class.name": CARELESS}) as broker:
        for name in ("views", "orders"):
            await broker.create(name)
        request = incremental.IncrementalAlterConfigsRequest(
            resources=[
                incremental.AlterConfigsResource(
                    resource_type=ResourceType.TOPIC,
                    resource_name=name,
                    configs=[
                        incremental.AlterableConfig(
                            name="retention.ms", config_operation=Operation.SET, value="1"
                        )
                    ],
                )
                for name in ("views", "orders")
            ],
            validate_only=False,
        )
        answer = await broker.ask(request, incremental.IncrementalAlterConfigsResponse)
        codes = [each.error_code for each in answer.responses]
        assert codes == [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE]


@on_virtual_time
async def test_a_policy_that_cannot_be_made_stops_the_start_with_a_sentence() -> None:
    path = "tests.unit.handlers.policies.Unbuildable"
    with pytest.raises(ConfigError, match=r"Unbuildable cannot be used \(KeyError: 'OWNERS_FILE'"):
        async with one_broker({"create.topic.policy.class.name": path}):
            pass


@on_virtual_time
async def test_a_bug_in_work_for_a_client_ends_only_that_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work() -> None:
        raise LookupError("a bug")

    async with one_broker() as broker:
        broker.broker.tasks.spawn_for_client(work(), "a test")
        await broker.create("orders")
    assert stacks(caplog) == ["a test failed"]
    assert logging.ERROR in [each.levelno for each in caplog.records]
