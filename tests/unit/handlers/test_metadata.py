"""Metadata: what is kept as bytes is what the schema would give, and changes with the topic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ottla.handlers import HANDLERS
from ottla.handlers.metadata_answer import topic_response
from ottla.metadata.image import BrokerImage, ClusterImage, Endpoint, PartitionImage, TopicImage
from ottla.protocol.apis.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ottla.protocol.apis.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_response
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.virtual_time import on_virtual_time

NEWEST = HANDLERS[3][1]
VERSIONS = range(NEWEST + 1)


def asking(*names: str, version: int, create: bool = False) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    if not names:
        return MetadataRequest(topics=[] if version == 0 else None)
    return MetadataRequest(topics=topics, allow_auto_topic_creation=create or version < 4)


async def metadata(
    broker: OneBroker, *names: str, version: int = NEWEST, create: bool = False
) -> MetadataResponse:
    asked = asking(*names, version=version, create=create)
    return await broker.ask(asked, MetadataResponse, version)


@pytest.mark.parametrize("version", VERSIONS)
@on_virtual_time
async def test_the_answer_is_what_the_schema_makes_of_it(version: int) -> None:
    async with one_broker({"auto.create.topics.enable": "false"}) as broker:
        await broker.create("orders", 3)
        await broker.create("views", 1)
        for _ in range(2):  # encoded, then from what was kept
            answer = await metadata(broker, "views", "nobody", "orders", version=version)
            raw = broker.client.raw[-1]
            assert encode_response(answer, version, correlation_id=77)[4:] == raw
            names = [(each.name, each.error_code) for each in answer.topics]
            assert names == [
                ("views", 0),
                ("orders", 0),
                ("nobody", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ]
            leaders = [each.leader_id for each in answer.topics[1].partitions]
            assert leaders == [1, 1, 1]


@pytest.mark.parametrize("version", VERSIONS)
@on_virtual_time
async def test_all_topics_and_none_are_asked_for_in_each_versions_way(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        await broker.create("views")
        everything = await metadata(broker, version=version)
        assert [each.name for each in everything.topics] == ["orders", "views"]
        assert [each.node_id for each in everything.brokers] == [1]
        if version >= 1:
            nothing = MetadataRequest(topics=[])
            answer = await broker.ask(nothing, MetadataResponse, version)
            assert answer.topics == []
            assert answer.controller_id == 1


@on_virtual_time
async def test_what_is_kept_changes_with_the_topic() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 1)
        assert len((await metadata(broker, "orders")).topics[0].partitions) == 1
        partition = broker.services.metadata.image.topics["orders"].partitions[0]
        wider = (partition, PartitionImage(1, 1, 0, (1,), (1,), (), 1))
        image = broker.services.metadata.image
        topic = TopicImage("orders", image.topics["orders"].topic_id, wider)
        broker.services.metadata.image = ClusterImage(
            image.cluster_id, 1, image.brokers, {"orders": topic}, image.topic_names
        )
        assert len((await metadata(broker, "orders")).topics[0].partitions) == 2


@on_virtual_time
async def test_a_topic_is_found_by_its_id_since_version_twelve() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        topic_id = broker.services.metadata.image.topics["orders"].topic_id
        asked = MetadataRequest(
            topics=[
                MetadataRequestTopic(topic_id=topic_id, name=None),
                MetadataRequestTopic(topic_id=b"x" * 16, name=None),
            ]
        )
        found, unknown = (await broker.ask(asked, MetadataResponse)).topics
        assert (found.name, found.error_code) == ("orders", 0)
        assert (unknown.topic_id, unknown.error_code) == (b"x" * 16, ErrorCode.UNKNOWN_TOPIC_ID)


@on_virtual_time
async def test_a_topic_that_may_be_created_is_on_its_way() -> None:
    async with one_broker() as broker:
        refused = await metadata(broker, "new", create=False)
        assert refused.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        soon = await metadata(broker, "new", create=True)
        assert soon.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
        await broker.until(lambda: "new" in broker.services.metadata.image.topics)
        bad = await metadata(broker, "no/name", create=True)
        assert bad.topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def brokers(*ids: int, listener: str = "PLAINTEXT") -> dict[int, BrokerImage]:
    return {
        each: BrokerImage(each, (Endpoint(listener, f"host{each}", 9092, 0),), None) for each in ids
    }


TOPIC = TopicImage(
    "orders",
    b"t" * 16,
    (
        PartitionImage(
            0, 1, 4, isr=(1, 2), replicas=(1, 2, 3), offline_replicas=(), controller_epoch=1
        ),
    ),
)


@pytest.mark.parametrize(
    ("alive", "version", "error", "leader", "replicas", "offline"),
    [
        ((1, 2, 3), 12, ErrorCode.NONE, 1, [1, 2, 3], []),
        ((1, 2), 12, ErrorCode.NONE, 1, [1, 2, 3], [3]),
        ((1, 2), 0, ErrorCode.REPLICA_NOT_AVAILABLE, 1, [1, 2], [3]),
        ((2, 3), 12, ErrorCode.LEADER_NOT_AVAILABLE, -1, [1, 2, 3], [1]),
        ((2, 3), 0, ErrorCode.LEADER_NOT_AVAILABLE, -1, [2, 3], [1]),
    ],
)
def test_who_is_not_alive_shows_in_the_partitions(
    alive: tuple[int, ...],
    version: int,
    error: ErrorCode,
    leader: int,
    replicas: list[int],
    offline: list[int],
) -> None:
    image = ClusterImage("c", 1, brokers(*alive), {"orders": TOPIC})
    (found,) = topic_response(TOPIC, image, "PLAINTEXT", version).partitions
    assert (found.error_code, found.leader_id) == (error, leader)
    assert (found.replica_nodes, found.offline_replicas) == (replicas, offline)
    assert found.leader_epoch == 4


@pytest.mark.parametrize(
    ("version", "error"),
    [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)],
)
def test_a_leader_that_cannot_be_reached_from_here_is_told_apart(
    version: int, error: ErrorCode
) -> None:
    image = ClusterImage("c", 1, brokers(1, 2, 3, listener="SSL"), {"orders": TOPIC})
    (found,) = topic_response(TOPIC, image, "PLAINTEXT", version).partitions
    assert (found.error_code, found.leader_id) == (error, -1)
    assert found.offline_replicas == [], "they are alive"


def test_a_replica_on_a_failed_disk_is_offline_although_its_broker_is_alive() -> None:
    partition = replace(TOPIC.partitions[0], offline_replicas=(2,))
    topic = replace(TOPIC, partitions=(partition,))
    image = ClusterImage("c", 1, brokers(1, 2), {"orders": topic})
    (found,) = topic_response(topic, image, "PLAINTEXT", NEWEST).partitions
    assert found.offline_replicas == [2, 3]


@pytest.mark.parametrize("version", VERSIONS)
@on_virtual_time
async def test_a_broker_that_cannot_be_reached_from_here_is_left_out(version: int) -> None:
    async with one_broker() as broker:
        image = broker.services.metadata.image
        known = {**image.brokers, **brokers(2), **brokers(3, listener="SSL")}
        broker.services.metadata.image = replace(image, brokers=known)
        told = await metadata(broker, "nobody", version=version)
        assert [each.node_id for each in told.brokers] == [1, 2]
        asked = DescribeClusterRequest(include_cluster_authorized_operations=False)
        described = await broker.ask(asked, DescribeClusterResponse)
        assert [each.broker_id for each in described.brokers] == [1, 2]
