"""OffsetDelete: a group forgets how far it has read some partitions."""

from __future__ import annotations

from functools import partial

from ottla.coordinators.groups.answers import DeletedOffsets, TopicPartition
from ottla.handlers.call import Call
from ottla.protocol.apis.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_offset_delete(request: OffsetDeleteRequest, call: Call) -> None:
    exists = call.services.metadata.exists
    asked = [(topic.name, each.partition_index) for topic in request.topics
             for each in topic.partitions]  # fmt: skip
    known = [each for each in dict.fromkeys(asked) if exists(*each)]
    call.services.groups.delete_offsets(request.group_id, known, partial(_reply, call, asked))


def _reply(call: Call, asked: list[TopicPartition], deleted: DeletedOffsets) -> None:
    topics: dict[str, list[OffsetDeleteResponsePartition]] = {}
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not deleted.error:
        for topic, index in dict.fromkeys(asked):
            error = deleted.partitions.get((topic, index), unknown)
            topics.setdefault(topic, []).append(
                OffsetDeleteResponsePartition(partition_index=index, error_code=error)
            )
    call.reply(
        OffsetDeleteResponse(
            error_code=deleted.error,
            topics=[
                OffsetDeleteResponseTopic(name=name, partitions=partitions)
                for name, partitions in topics.items()
            ],
        )
    )


def refuse(request: OffsetDeleteRequest, error: KafkaError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=error.code, topics=[])
