"""Configs: which broker is asked, and what a newer or an older one may answer."""

from __future__ import annotations

import pytest

from ottla.admin import configs
from ottla.admin.configs import Change, ConfigEntry, ConfigSource, Operation, Resource, ResourceType
from ottla.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ottla.protocol.apis.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

TOPIC = Resource(ResourceType.TOPIC, "orders")
BROKER = Resource(ResourceType.BROKER, "1")
EVERY_BROKER = Resource(ResourceType.BROKER, "")
LOGGER = Resource(ResourceType.BROKER_LOGGER, "1")


def describing(source: int = 1, code: int = 0) -> DescribeConfigsResult:
    entry = DescribeConfigsResourceResult(
        name="b",
        value="1",
        read_only=False,
        is_sensitive=False,
        config_source=source,
        synonyms=[DescribeConfigsSynonym(name="log.b", value="2", source=5)],
    )
    return DescribeConfigsResult(
        error_code=code, error_message="", resource_type=2, resource_name="", configs=[entry]
    )


def answer_all(broker: int, message: Message) -> Message:
    assert isinstance(message, DescribeConfigsRequest)
    results = []
    for each in message.resources:
        result = describing()
        result.resource_type, result.resource_name = each.resource_type, each.resource_name
        results.append(result)
    return DescribeConfigsResponse(results=results)


def test_a_brokers_own_configs_are_asked_of_that_broker() -> None:
    scripted = ScriptedCluster(answer_all)
    resources = [TOPIC, BROKER, EVERY_BROKER, LOGGER]
    found = scripted.run(lambda cluster: configs.describe(cluster, resources))
    assert list(found) == resources
    told = [
        (broker, [each.resource_name for each in message.resources])
        for broker, message in scripted.asked
        if isinstance(message, DescribeConfigsRequest)
    ]
    assert told == [(0, ["orders", ""]), (1, ["1", "1"])]


def test_a_value_comes_with_its_source_and_synonyms() -> None:
    scripted = ScriptedCluster(answer_all)
    (entries,) = scripted.run(lambda cluster: configs.describe(cluster, [TOPIC])).values()
    assert not isinstance(entries, KafkaError)
    (entry,) = entries
    assert isinstance(entry, ConfigEntry)
    assert entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
    assert [each.source for each in entry.synonyms] == [ConfigSource.DEFAULT_CONFIG]


def test_a_source_of_a_newer_broker_is_unknown() -> None:
    assert ConfigSource(99) is ConfigSource.UNKNOWN


def test_an_unknown_topic_is_told_with_the_nearest_name() -> None:
    def refuse(broker: int, message: Message) -> Message:
        result = describing(code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        result.resource_name = "ordrs"
        return DescribeConfigsResponse(results=[result])

    scripted = ScriptedCluster(refuse, topics={"orders": []})
    wanted = Resource(ResourceType.TOPIC, "ordrs")
    (refused,) = scripted.run(lambda cluster: configs.describe(cluster, [wanted])).values()
    assert "Did you mean orders?" in str(refused)


@pytest.mark.parametrize(("resource", "broker"), [(TOPIC, 0), (BROKER, 1), (LOGGER, 1)])
def test_changes_go_out_together_and_a_refusal_is_raised(resource: Resource, broker: int) -> None:
    def refuse(broker: int, message: Message) -> Message:
        told = AlterConfigsResourceResponse(
            error_code=ErrorCode.INVALID_CONFIG,
            error_message="x is no number",
            resource_type=resource.type,
            resource_name=resource.name,
        )
        return IncrementalAlterConfigsResponse(responses=[told])

    scripted = ScriptedCluster(refuse)
    changes = [Change(Operation.SET, "a", "x"), Change(Operation.DELETE, "b")]
    with pytest.raises(KafkaError, match="INVALID_CONFIG: x is no number"):
        scripted.run(lambda cluster: configs.alter(cluster, resource, changes))
    ((asked, message),) = scripted.asked
    assert asked == broker
    assert isinstance(message, IncrementalAlterConfigsRequest)
    sent = [(each.config_operation, each.name, each.value) for each in message.resources[0].configs]
    assert sent == [(0, "a", "x"), (1, "b", None)]


def test_a_resource_has_a_name_for_people() -> None:
    assert [str(each) for each in (TOPIC, BROKER, EVERY_BROKER, LOGGER)] == [
        "topic orders",
        "broker 1",
        "all brokers",
        "broker logger 1",
    ]
