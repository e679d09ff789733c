"""How far a group has read: asked, set by hand, forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.coordinator import ask_coordinator
from ottla.admin.offsets import by_topic
from ottla.admin.refusals import refusal
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.apis.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ottla.protocol.errors import ErrorCode, KafkaError

# Version 2 is the first that tells all offsets of a group, 7 the last that asks for one group.
_ALL_TOPICS, _ONE_GROUP = 2, 7
# Version 0 keeps offsets in ZooKeeper, version 1 wants a time.
_FIRST_PLAIN_COMMIT = 2


class Committed(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str


async def committed(cluster: Cluster, group: str) -> dict[TopicPartition, Committed]:
    """All that the group has committed, by topic and partition."""
    answer = await ask_coordinator(
        cluster,
        group,
        OffsetFetchRequest(group_id=group, topics=None),
        OffsetFetchResponse,
        lambda given: [given.error_code],
        at_least=_ALL_TOPICS,
        at_most=_ONE_GROUP,
    )
    if answer.error_code != ErrorCode.NONE:
        raise refusal(answer.error_code)
    found = {
        TopicPartition(topic.name, each.partition_index): Committed(
            each.committed_offset, each.committed_leader_epoch, each.metadata or ""
        )
        for topic in answer.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE and each.committed_offset >= 0
    }
    return dict(sorted(found.items()))


async def commit(
    cluster: Cluster, group: str, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, KafkaError | None]:
    """As somebody who is no member; brokers refuse that while there are members."""
    topics = [
        OffsetCommitRequestTopic(
            name=topic,
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=index,
                    committed_offset=offsets[TopicPartition(topic, index)],
                    committed_metadata="",
                )
                for index in indexes
            ],
        )
        for topic, indexes in by_topic(list(offsets)).items()
    ]
    answer = await ask_coordinator(
        cluster,
        group,
        OffsetCommitRequest(group_id=group, topics=topics),
        OffsetCommitResponse,
        lambda given: [each.error_code for topic in given.topics for each in topic.partitions],
        at_least=_FIRST_PLAIN_COMMIT,
    )
    return {
        TopicPartition(topic.name, each.partition_index): _refused(each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    }


async def forget(
    cluster: Cluster, group: str, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, KafkaError | None]:
    """The group stays; brokers refuse it for topics that a member is subscribed to."""
    topics = [
        OffsetDeleteRequestTopic(
            name=topic,
            partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes],
        )
        for topic, indexes in by_topic(partitions).items()
    ]
    answer = await ask_coordinator(
        cluster,
        group,
        OffsetDeleteRequest(group_id=group, topics=topics),
        OffsetDeleteResponse,
        lambda given: [given.error_code],
    )
    if answer.error_code != ErrorCode.NONE:
        raise refusal(answer.error_code)
    return {
        TopicPartition(topic.name, each.partition_index): _refused(each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    }


def _refused(code: int) -> KafkaError | None:
    return None if code == ErrorCode.NONE else refusal(code)
