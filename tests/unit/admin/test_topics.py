"""Topics: what is asked of the controller, and what becomes of its answers."""

from __future__ import annotations

import pytest

from ottla.admin import topics
from ottla.admin.cluster import TopicPartition
from ottla.admin.topics import Created, NewTopic, UnknownTopic
from ottla.protocol.apis.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from ottla.protocol.apis.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

ORDERS = {"orders": [(0, [0, 1], [0]), (-1, [1, 0], [])]}


def test_a_new_topic_is_told_with_all_that_was_said() -> None:
    answer = CreatableTopicResult(
        name="orders", topic_id=b"\0" * 15 + b"\1", num_partitions=2, replication_factor=2
    )
    scripted = ScriptedCluster(lambda broker, message: CreateTopicsResponse(topics=[answer]))
    new = NewTopic("orders", assignments=((0, 1), (1, 0)), configs={"retention.ms": "1"})
    results = scripted.run(lambda cluster: topics.create(cluster, [new], validate_only=True))
    assert results == {"orders": Created("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 2, 2)}
    ((_, asked),) = scripted.asked
    assert isinstance(asked, CreateTopicsRequest)
    assert asked.validate_only
    (topic,) = asked.topics
    assert (topic.num_partitions, topic.replication_factor) == (-1, -1)
    assert [each.broker_ids for each in topic.assignments] == [[0, 1], [1, 0]]
    assert [(each.name, each.value) for each in topic.configs] == [("retention.ms", "1")]


def test_each_refused_topic_has_the_brokers_own_words() -> None:
    code = ErrorCode.INVALID_CONFIG
    refused = CreatableTopicResult(name="b", error_code=code, error_message="no such option")
    without = CreatableTopicResult(name="c", error_code=ErrorCode.INVALID_PARTITIONS)
    unheard = CreatableTopicResult(name="d", error_code=999, error_message="new")
    answer = CreateTopicsResponse(topics=[refused, without, unheard])
    results = ScriptedCluster(lambda broker, message: answer).run(
        lambda cluster: topics.create(cluster, [NewTopic(name) for name in "bcd"])
    )
    told = [str(each) for each in results.values() if isinstance(each, KafkaError)]
    assert told == [
        "INVALID_CONFIG: no such option",
        f"INVALID_PARTITIONS: {ErrorCode.INVALID_PARTITIONS.meaning}",
        "UNKNOWN_SERVER_ERROR: error code 999, which Ottla does not know. new",
    ]


def test_a_described_topic_knows_its_sick_partitions() -> None:
    (topic,) = ScriptedCluster(topics=ORDERS).run(lambda c: topics.describe(c, ["orders"]))
    assert (topic.name, topic.id, topic.replication_factor) == (
        "orders",
        "dHR0dHR0dHR0dHR0dHR0dA",
        2,
    )
    first, second = topic.partitions
    assert (first.leader, first.in_sync, first.is_under_replicated) == (0, (0,), True)
    assert second.leader is None


def test_a_mistyped_topic_is_told_with_the_nearest_name() -> None:
    with pytest.raises(UnknownTopic, match=r"no topic 'ordres'\. Did you mean orders\?"):
        ScriptedCluster(topics=ORDERS).run(lambda c: topics.describe(c, ["ordres"]))


def test_a_partition_that_is_not_there_is_refused_at_once() -> None:
    wanted = [TopicPartition("orders", 1), TopicPartition("orders", 2)]
    with pytest.raises(KafkaError, match="orders has no partition 2; it has 0 to 1"):
        ScriptedCluster(topics=ORDERS).run(lambda c: topics.check_partitions(c, wanted))


def test_topics_are_deleted_by_name_and_each_has_its_fate() -> None:
    def handle(broker: int, message: Message) -> Message:
        assert isinstance(message, DeleteTopicsRequest)
        codes = {"orders": 0, "nope": 3, "locked": ErrorCode.TOPIC_DELETION_DISABLED}
        return DeleteTopicsResponse(
            responses=[
                DeletableTopicResult(name=name, error_code=codes[name])
                for name in message.topic_names
            ]
        )

    names = ["orders", "nope", "locked"]
    results = ScriptedCluster(handle).run(lambda c: topics.delete(c, names))
    codes = [None if each is None else each.code for each in results.values()]
    assert codes == [
        None,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.TOPIC_DELETION_DISABLED,
    ]


@pytest.mark.parametrize("assignments", [(), ((0, 1),)])
def test_a_topic_is_expanded_and_a_refusal_raised(assignments: tuple[tuple[int, ...], ...]) -> None:
    def handle(broker: int, message: Message) -> Message:
        assert isinstance(message, CreatePartitionsRequest)
        (topic,) = message.topics
        given = [tuple(each.broker_ids) for each in topic.assignments or ()]
        assert (topic.count, tuple(given)) == (3, assignments)
        assert (topic.assignments is None) == (not assignments)
        result = CreatePartitionsTopicResult(
            name="orders", error_code=ErrorCode.INVALID_PARTITIONS, error_message="has 3"
        )
        return CreatePartitionsResponse(results=[result])

    with pytest.raises(KafkaError, match="INVALID_PARTITIONS: has 3"):
        ScriptedCluster(handle).run(
            lambda c: topics.expand(c, "orders", partitions=3, assignments=assignments)
        )
