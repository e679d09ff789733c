"""Alter- and ListPartitionReassignments, UpdateFeatures, AllocateProducerIds at the controller."""

from __future__ import annotations

import pytest

from ottla.controller.context import ReplicaSet, TopicPartition
from ottla.protocol.apis.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from ottla.protocol.apis.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.apis.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.apis.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.virtual_time import on_virtual_time

MOVING = ReplicaSet((5, 1), adding=(5,), removing=(1,))


async def alter(
    broker: OneBroker, topic: str, targets: dict[int, list[int] | None]
) -> dict[int, int]:
    partitions = [
        ReassignablePartition(partition_index=index, replicas=to) for index, to in targets.items()
    ]
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=partitions)]
    )
    answer = await broker.ask(request, AlterPartitionReassignmentsResponse)
    assert answer.error_code == ErrorCode.NONE
    (result,) = answer.responses
    assert result.name == topic
    return {each.partition_index: each.error_code for each in result.partitions}


async def listed(
    broker: OneBroker, topics: dict[str, list[int]] | None
) -> list[tuple[str, int, list[int], list[int], list[int]]]:
    request = ListPartitionReassignmentsRequest(
        topics=None
        if topics is None
        else [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
            for name, indexes in topics.items()
        ]
    )
    answer = await broker.ask(request, ListPartitionReassignmentsResponse)
    return [
        (
            topic.name,
            each.partition_index,
            each.replicas,
            each.adding_replicas,
            each.removing_replicas,
        )
        for topic in answer.topics
        for each in topic.partitions
    ]


@on_virtual_time
async def test_each_partition_is_reassigned_or_refused_by_itself() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 4)
        assert await alter(broker, "orders", {0: [1], 1: [2], 2: None, 3: [1, 1], 9: [1]}) == {
            0: ErrorCode.NONE,
            1: ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            2: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
            3: ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        assert await listed(broker, None) == []
        partition = broker.services.metadata.image.partition("orders", 0)
        assert partition is not None
        assert (partition.leader, partition.leader_epoch) == (1, 1)


@on_virtual_time
async def test_what_another_controller_began_is_listed_and_can_be_taken_back() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        broker.services.controller.context.assign(TopicPartition("orders", 1), MOVING)
        found = [("orders", 1, [5, 1], [5], [1])]
        assert await listed(broker, None) == found
        assert await listed(broker, {"orders": [0, 1], "others": [1]}) == found
        assert await listed(broker, {"orders": [0]}) == []
        assert await alter(broker, "orders", {1: None}) == {1: ErrorCode.NONE}
        assert await listed(broker, None) == []


@on_virtual_time
async def test_only_the_controller_answers() -> None:
    async with one_broker() as broker:
        broker.broker.controller._resign()
        altered = await broker.ask(
            AlterPartitionReassignmentsRequest(topics=[]), AlterPartitionReassignmentsResponse
        )
        told = await broker.ask(
            ListPartitionReassignmentsRequest(), ListPartitionReassignmentsResponse
        )
        features = await broker.ask(
            UpdateFeaturesRequest(feature_updates=[]), UpdateFeaturesResponse
        )
        block = await broker.ask(
            AllocateProducerIdsRequest(broker_id=1, broker_epoch=1), AllocateProducerIdsResponse
        )
        codes = [each.error_code for each in (altered, told, features, block)]
        assert codes == [ErrorCode.NOT_CONTROLLER] * 4


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (FeatureUpdateKey(feature="", max_version_level=1), "without a name"),
        (FeatureUpdateKey(feature="x", max_version_level=1), "does not know"),
        (FeatureUpdateKey(feature="x", max_version_level=0), "allow a downgrade"),
        (FeatureUpdateKey(feature="x", max_version_level=0, upgrade_type=2), "not finalized"),
        (FeatureUpdateKey(feature="x", max_version_level=1, upgrade_type=9), "no type of upgrade"),
    ],
)
@on_virtual_time
async def test_there_are_no_features_to_finalize(update: FeatureUpdateKey, words: str) -> None:
    async with one_broker() as broker:
        request = UpdateFeaturesRequest(feature_updates=[update, update])
        answer = await broker.ask(request, UpdateFeaturesResponse)
        (result,) = answer.results
        assert result.error_code == ErrorCode.INVALID_REQUEST
        assert words in (result.error_message or "")


@on_virtual_time
async def test_blocks_of_producer_ids_are_for_registered_brokers() -> None:
    async with one_broker() as broker:

        async def allocate(broker_id: int, epoch: int) -> tuple[int, int, int]:
            request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
            answer = await broker.ask(request, AllocateProducerIdsResponse)
            return answer.error_code, answer.producer_id_start, answer.producer_id_len

        epoch = broker.services.broker_epoch()
        first = await allocate(1, epoch)
        assert first == (0, 0, 1000)
        assert await allocate(1, epoch) == (0, 1000, 1000)
        assert await allocate(1, epoch + 1) == (ErrorCode.STALE_BROKER_EPOCH, 0, 0)
        assert await allocate(7, -1) == (ErrorCode.BROKER_ID_NOT_REGISTERED, 0, 0)
