"""AlterPartitionReassignments: partitions move to other brokers, or stop moving (KIP-455)."""

from __future__ import annotations

from ottla.controller.context import TopicPartition
from ottla.controller.events import ReassignmentResult
from ottla.handlers.call import Call
from ottla.protocol.apis.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ottla.protocol.errors import KafkaError


async def handle_alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, call: Call
) -> AlterPartitionReassignmentsResponse:
    wanted = {
        TopicPartition(topic.name, each.partition_index): (
            None if each.replicas is None else tuple(each.replicas)
        )
        for topic in request.topics
        for each in topic.partitions
    }
    results = await call.services.controller.alter_reassignments(wanted)
    return AlterPartitionReassignmentsResponse(error_message="", responses=_by_topic(results))


def _by_topic(
    results: dict[TopicPartition, ReassignmentResult],
) -> list[ReassignableTopicResponse]:
    topics: dict[str, list[ReassignablePartitionResponse]] = {}
    for at, result in results.items():
        topics.setdefault(at.topic, []).append(
            ReassignablePartitionResponse(
                partition_index=at.partition,
                error_code=result.code,
                error_message=result.message,
            )
        )
    return [
        ReassignableTopicResponse(name=name, partitions=partitions)
        for name, partitions in topics.items()
    ]


def refuse(
    request: AlterPartitionReassignmentsRequest, error: KafkaError
) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(
        error_code=error.code, error_message=error.detail or None, responses=[]
    )
