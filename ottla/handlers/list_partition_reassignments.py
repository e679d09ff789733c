"""ListPartitionReassignments: the partitions that are on their way to other brokers (KIP-455)."""

from __future__ import annotations

from ottla.controller.reassignment import under_way
from ottla.handlers.call import Call
from ottla.protocol.apis.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ottla.protocol.errors import KafkaError


def handle_list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, call: Call
) -> ListPartitionReassignmentsResponse:
    topics: dict[str, list[OngoingPartitionReassignment]] = {}
    for at, replicas in under_way(call.services.controller.context, _asked(request)).items():
        topics.setdefault(at.topic, []).append(
            OngoingPartitionReassignment(
                partition_index=at.partition,
                replicas=list(replicas.replicas),
                adding_replicas=list(replicas.adding),
                removing_replicas=list(replicas.removing),
            )
        )
    return ListPartitionReassignmentsResponse(
        error_message="",
        topics=[
            OngoingTopicReassignment(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def _asked(request: ListPartitionReassignmentsRequest) -> dict[str, list[int]] | None:
    if request.topics is None:
        return None
    asked: dict[str, list[int]] = {}
    for topic in request.topics:
        asked.setdefault(topic.name, []).extend(topic.partition_indexes)
    return asked


def refuse(
    request: ListPartitionReassignmentsRequest, error: KafkaError
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(
        error_code=error.code, error_message=error.detail or None, topics=[]
    )
