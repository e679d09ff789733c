"""Each request at the right broker: the controller, the leaders, and what is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.admin.cluster import Cluster, NoController, TopicPartition, Unreachable
from ottla.admin.offsets import LATEST, MAX_TIMESTAMP, FoundOffset, find
from ottla.protocol.apis.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.apis.metadata import MetadataRequest
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

NOWHERE = "127.0.0.1:1"
ORDERS = [TopicPartition("orders", 0), TopicPartition("orders", 1)]


def ask_controller(cluster: Cluster) -> Awaitable[CreateTopicsResponse]:
    request = CreateTopicsRequest(topics=[])
    return cluster.ask_controller(
        request, CreateTopicsResponse, lambda answer: [each.error_code for each in answer.topics]
    )


def created(code: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name="orders", error_code=code)])


def test_the_controller_is_found_from_any_broker() -> None:
    scripted = ScriptedCluster(lambda broker, message: created(0))
    scripted.controller = 1
    scripted.run(ask_controller)
    assert scripted.kinds(1) == ["CreateTopics"]
    assert scripted.kinds(0) == []


def test_a_controller_that_moved_is_looked_for_again() -> None:
    def handle(broker: int, message: Message) -> Message:
        scripted.controller = 1
        return created(ErrorCode.NOT_CONTROLLER if broker == 0 else ErrorCode.NONE)

    scripted = ScriptedCluster(handle)
    answer = scripted.run(ask_controller)
    assert answer.topics[0].error_code == ErrorCode.NONE
    assert [broker for broker, _ in scripted.asked] == [0, 1]


def test_a_cluster_that_never_finds_its_controller_is_given_up() -> None:
    scripted = ScriptedCluster(lambda broker, message: created(ErrorCode.NOT_CONTROLLER))
    told = "broker 0 says that it is not the controller, after 8 attempts"
    with pytest.raises(NoController, match=told):
        scripted.run(ask_controller)
    assert len(scripted.asked) == 8


def test_a_cluster_without_a_controller_says_so() -> None:
    scripted = ScriptedCluster()
    scripted.controller = -1
    with pytest.raises(NoController, match="the cluster has no controller"):
        scripted.run(ask_controller)


def test_one_of_the_bootstrap_addresses_is_enough() -> None:
    scripted = ScriptedCluster()

    async def work(cluster: Cluster) -> list[int]:
        address = scripted.brokers[1].address
        async with Cluster(f"{NOWHERE},{address}") as other:
            return await other.broker_ids()

    assert scripted.run(work) == [0, 1]


def test_who_answers_nowhere_is_named_with_the_reason() -> None:
    async def work() -> None:
        async with Cluster(f"{NOWHERE},127.0.0.1:2") as cluster:
            await cluster.metadata()

    told = r"127\.0\.0\.1:1 \(connection refused\); 127\.0\.0\.1:2 \(connection refused\)"
    with pytest.raises(Unreachable, match=told):
        asyncio.run(work())


def test_a_broker_that_is_not_there_is_told_with_those_that_are() -> None:
    def work(cluster: Cluster) -> Awaitable[Message]:
        return cluster.ask_broker(7, MetadataRequest(topics=[]), Message)

    with pytest.raises(KafkaError, match="no broker 7; the cluster has 0, 1") as refused:
        ScriptedCluster().run(work)
    assert refused.value.code is ErrorCode.BROKER_NOT_AVAILABLE


def test_a_connection_that_broke_is_made_anew() -> None:
    scripted = ScriptedCluster(brokers=1)

    async def work(cluster: Cluster) -> None:
        await cluster.metadata([])
        scripted.brokers[0].hang_up()
        await cluster.metadata([])

    scripted.run(work)
    assert scripted.brokers[0].connections == 2


def test_two_who_ask_at_once_share_one_connection() -> None:
    scripted = ScriptedCluster(brokers=1)

    async def work(cluster: Cluster) -> None:
        await asyncio.gather(cluster.metadata([]), cluster.metadata([]))

    scripted.run(work)
    assert scripted.brokers[0].connections == 1


def offsets(code: Callable[[int, int], int]) -> Callable[[int, Message], Message]:
    """Answers 100 times the broker's id plus the partition, or with the code."""

    def handle(broker: int, message: Message) -> Message:
        assert isinstance(message, ListOffsetsRequest)
        topics = [
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index,
                        error_code=code(broker, each.partition_index),
                        offset=100 * broker + each.partition_index,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in message.topics
        ]
        return ListOffsetsResponse(topics=topics)

    return handle


def find_latest(cluster: Cluster) -> Awaitable[dict[TopicPartition, FoundOffset | KafkaError]]:
    return find(cluster, ORDERS, LATEST)


def test_each_leader_is_asked_for_its_own_partitions() -> None:
    topics = {"orders": [(1, [1], [1]), (0, [0], [0])]}
    scripted = ScriptedCluster(offsets(lambda broker, partition: 0), topics=topics)
    found = scripted.run(find_latest)
    assert list(found) == ORDERS
    assert list(found.values()) == [FoundOffset(100, None), FoundOffset(1, None)]


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ],
)
def test_only_a_partition_whose_leader_moved_is_asked_for_again(code: ErrorCode) -> None:
    def moved(broker: int, partition: int) -> int:
        if broker == 0 and partition == 0:
            scripted.topics = {"orders": [(1, [1], [1]), (0, [0], [0])]}
            return code
        return 0

    topics = {"orders": [(0, [0], [0]), (0, [0], [0])]}
    scripted = ScriptedCluster(offsets(moved), topics=topics)
    found = scripted.run(find_latest)
    assert list(found.values()) == [FoundOffset(100, None), FoundOffset(1, None)]
    assert [broker for broker, _ in scripted.asked] == [0, 1]


def test_a_refusal_that_does_not_pass_is_not_tried_again() -> None:
    topics = {"orders": [(0, [0], [0]), (0, [0], [0])]}
    refuse = offsets(lambda broker, partition: ErrorCode.TOPIC_AUTHORIZATION_FAILED * partition)
    scripted = ScriptedCluster(refuse, topics=topics)
    fine, refused = scripted.run(find_latest).values()
    assert fine == FoundOffset(0, None)
    assert isinstance(refused, KafkaError)
    assert refused.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert len(scripted.asked) == 1


def test_partitions_without_a_leader_and_unknown_ones_are_told_apart_in_the_end() -> None:
    scripted = ScriptedCluster(topics={"orders": [(-1, [0], [])]})
    leaderless, unknown = scripted.run(find_latest).values()
    assert isinstance(leaderless, KafkaError)
    assert leaderless.code is ErrorCode.LEADER_NOT_AVAILABLE
    assert isinstance(unknown, KafkaError)
    assert unknown.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_leader_that_hangs_up_costs_only_its_own_partitions() -> None:
    def handle(broker: int, message: Message) -> Message | None:
        if broker == 1:
            scripted.brokers[1].hang_up()
            return None
        return offsets(lambda broker, partition: 0)(broker, message)

    topics = {"orders": [(1, [1], [1]), (0, [0], [0])]}
    scripted = ScriptedCluster(handle, topics=topics)
    lost, found = scripted.run(find_latest).values()
    assert isinstance(lost, KafkaError)
    assert "broker 1 leads it and cannot be reached" in lost.detail
    assert found == FoundOffset(1, None)


def test_a_question_that_an_old_broker_does_not_understand_is_not_asked() -> None:
    versions = {2: (0, 6), 3: (0, 12), 18: (0, 4)}
    scripted = ScriptedCluster(topics={"orders": [(0, [0], [0])] * 2}, versions=versions)
    found = scripted.run(lambda cluster: find(cluster, ORDERS, MAX_TIMESTAMP))
    for refused in found.values():
        assert isinstance(refused, KafkaError)
        assert "ListOffsets in version 0 to 6, this needs version 7 to 9" in refused.detail
    assert scripted.asked == []
