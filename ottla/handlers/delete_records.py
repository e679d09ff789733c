"""DeleteRecords: the start of a partition moves up to an offset, on every live replica."""

from __future__ import annotations

from functools import partial

from ottla.handlers.call import Call
from ottla.protocol.apis.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ottla.protocol.errors import KafkaError
from ottla.replication.delayed_delete import DelayedDelete, DeletionResult


def handle_delete_records(request: DeleteRecordsRequest, call: Call) -> None:
    replicas = call.services.replicas
    # Of a partition that is named twice only the last counts, as in Kafka.
    offsets = {
        (topic.name, each.partition_index): each.offset
        for topic in request.topics
        for each in topic.partitions
    }
    results = [
        DeletionResult.start(replicas, topic, index, offset)
        for (topic, index), offset in offsets.items()
    ]
    operation = DelayedDelete(results, partial(_reply, call))
    watch = [each.partition for each in results if each.partition is not None]
    replicas.deletions.park(operation, watch=watch, timeout_ms=request.timeout_ms)


def _reply(call: Call, results: list[DeletionResult]) -> None:
    topics: dict[str, list[DeleteRecordsPartitionResult]] = {}
    for result in results:
        topics.setdefault(result.topic, []).append(
            DeleteRecordsPartitionResult(
                partition_index=result.index,
                low_watermark=result.low_watermark,
                error_code=result.error,
            )
        )
    call.reply(
        DeleteRecordsResponse(
            topics=[
                DeleteRecordsTopicResult(name=name, partitions=partitions)
                for name, partitions in topics.items()
            ]
        )
    )


def refuse(request: DeleteRecordsRequest, error: KafkaError) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    DeleteRecordsPartitionResult(
                        partition_index=each.partition_index,
                        low_watermark=-1,
                        error_code=error.code,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
