"""OffsetCommit: a group stores how far it has read. Version 0 does so in the metadata store."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any

from ottla.config.group_options import OFFSET_METADATA_MAX_BYTES
from ottla.coordinators.groups.answers import OffsetToCommit, TopicPartition
from ottla.handlers.call import Call
from ottla.handlers.commit_codes import UNKNOWN, Codes, codes_by_topic
from ottla.handlers.commit_rows import commit_in_rows
from ottla.handlers.offset_shortcut import shortcut_for
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.plain_commit import read_plain_commit

read_request = read_plain_commit
request_shortcut = shortcut_for


def handle_offset_commit(
    request: OffsetCommitRequest, call: Call
) -> OffsetCommitResponse | Coroutine[Any, Any, OffsetCommitResponse] | None:
    if commit_in_rows(request, call):
        return None
    offsets = _known(request, call)
    if not offsets:
        return _response(request, {})
    if call.version == 0:
        return _commit_to_store(request, call, offsets)
    call.services.groups.commit(
        request.group_id,
        offsets,
        partial(_reply, call, request),
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id_or_member_epoch,
        retention_ms=request.retention_time_ms,
    )
    return None


def _known(request: OffsetCommitRequest, call: Call) -> list[OffsetToCommit]:
    """Those of partitions that exist."""
    topics = call.services.metadata.image.topics
    offsets = []
    for topic in request.topics:
        image = topics.get(topic.name)
        if image is None:
            continue
        offsets += [
            OffsetToCommit(
                topic.name,
                each.partition_index,
                each.committed_offset,
                each.committed_leader_epoch,
                each.committed_metadata,
                each.commit_timestamp,
            )
            for each in topic.partitions
            if image.partition(each.partition_index) is not None
        ]
    return offsets


def _reply(call: Call, request: OffsetCommitRequest, codes: Codes) -> None:
    call.reply(_response(request, codes))


async def _commit_to_store(
    request: OffsetCommitRequest, call: Call, offsets: list[OffsetToCommit]
) -> OffsetCommitResponse:
    most = call.services.overrides.broker[OFFSET_METADATA_MAX_BYTES]
    errors: dict[TopicPartition, ErrorCode] = {}
    for topic, index, offset, _, metadata, _ in offsets:
        error = ErrorCode.NONE
        if metadata is not None and len(metadata) > most:
            error = ErrorCode.OFFSET_METADATA_TOO_LARGE
        else:
            try:
                await call.services.stored_offsets.commit(request.group_id, topic, index, offset)
            except KafkaError as refusal:
                error = refusal.code
        errors[topic, index] = error
    return _response(request, errors)


def _response(
    request: OffsetCommitRequest, codes: Codes, *, otherwise: ErrorCode = UNKNOWN
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=index, error_code=error)
                    for index, error in found.items()
                ],
            )
            for name, found in codes_by_topic(request.topics, codes, otherwise=otherwise).items()
        ]
    )


def refuse(request: OffsetCommitRequest, error: KafkaError) -> OffsetCommitResponse:
    return _response(request, {}, otherwise=error.code)
