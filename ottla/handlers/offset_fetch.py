"""OffsetFetch: how far groups have read. Version 0 reads from the metadata store."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from ottla.coordinators.groups.answers import NO_OFFSET, FetchedOffset, TopicPartition
from ottla.handlers.call import Call
from ottla.handlers.offset_rows import reply_in_rows
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError

_TOP_LEVEL_ERROR_FROM = 2
_GROUPS_FROM = 8
_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def handle_offset_fetch(
    request: OffsetFetchRequest, call: Call
) -> OffsetFetchResponse | Coroutine[Any, Any, OffsetFetchResponse] | None:
    if call.version == 0:
        return _fetch_from_store(request, call)
    if reply_in_rows(request, call):
        return None
    stable = request.require_stable
    if call.version < _GROUPS_FROM:
        error, topics = _fetch(call, request.group_id, request.topics, require_stable=stable)
        if error and call.version < _TOP_LEVEL_ERROR_FROM:
            topics = _all(request.topics or [], error)
        return OffsetFetchResponse(topics=topics, error_code=error)
    groups = []
    for group in request.groups:
        error, topics = _fetch(call, group.group_id, group.topics, require_stable=stable)
        groups.append(
            OffsetFetchResponseGroup(group_id=group.group_id, topics=topics, error_code=error)
        )
    return OffsetFetchResponse(groups=groups)


def _fetch(
    call: Call,
    group_id: str,
    topics: Sequence[OffsetFetchRequestTopic] | None,
    *,
    require_stable: bool,
) -> tuple[ErrorCode, list[OffsetFetchResponseTopic]]:
    asked = None if topics is None else _named(topics)
    error, found = call.services.groups.fetch(group_id, asked, require_stable=require_stable)
    return error, [] if error else _topics(found)


def _named(topics: Sequence[OffsetFetchRequestTopic]) -> list[TopicPartition]:
    return [(topic.name, index) for topic in topics for index in topic.partition_indexes]


def _topics(offsets: Mapping[TopicPartition, FetchedOffset]) -> list[OffsetFetchResponseTopic]:
    topics: dict[str, list[OffsetFetchResponsePartition]] = {}
    for (name, index), found in offsets.items():
        topics.setdefault(name, []).append(
            OffsetFetchResponsePartition(
                partition_index=index,
                committed_offset=found.offset,
                committed_leader_epoch=found.leader_epoch,
                metadata=found.metadata,
                error_code=found.error,
            )
        )
    return [
        OffsetFetchResponseTopic(name=name, partitions=partitions)
        for name, partitions in topics.items()
    ]


def _all(
    topics: Sequence[OffsetFetchRequestTopic], error: ErrorCode
) -> list[OffsetFetchResponseTopic]:
    return _topics({each: FetchedOffset(error=error) for each in _named(topics)})


async def _fetch_from_store(request: OffsetFetchRequest, call: Call) -> OffsetFetchResponse:
    image, stored = call.services.metadata.image, call.services.stored_offsets
    found: dict[TopicPartition, FetchedOffset] = {}
    for topic, index in _named(request.topics or []):
        offset, error = None, _UNKNOWN
        if topic in image.topics:
            try:
                offset = await stored.fetch(request.group_id, topic, index)
            except KafkaError as refusal:
                error = refusal.code
        if offset is None:
            found[topic, index] = FetchedOffset(NO_OFFSET, error=error)
        else:
            found[topic, index] = FetchedOffset(offset)
    return OffsetFetchResponse(topics=_topics(found))


def refuse(request: OffsetFetchRequest, error: KafkaError) -> OffsetFetchResponse:
    if request.groups:
        groups = [
            OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=error.code)
            for group in request.groups
        ]
        return OffsetFetchResponse(groups=groups)
    topics = _all(request.topics or [], error.code)
    return OffsetFetchResponse(topics=topics, error_code=error.code)
