"""Commits of many offsets without metadata, from the request's rows to the answer's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.offset_rows import OffsetRows
from ottla.handlers.call import Call
from ottla.handlers.offset_rows import compact, reply_flexible
from ottla.metadata.image import ClusterImage, TopicImage
from ottla.protocol.apis.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.plain_commit import ROW_BYTES, PlainPartitions, index_columns, read_indexes
from ottla.protocol.varint import write_uvarint

# Partition, error, no tags.
_ANSWER_BYTES = 7
_INDEX_BYTES = 4
_MOST_KEPT = 1_000  # partitions of a topic; more take more memory than they save time


def commit_in_rows(request: OffsetCommitRequest, call: Call) -> bool:
    """False, and nothing is done, if the partitions have to be looked at one by one."""
    offsets = _known(request, call)
    if offsets is None:
        return False
    call.services.groups.commit_rows(
        request.group_id,
        offsets,
        partial(_reply, call, offsets),
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id_or_member_epoch,
    )
    return True


def _known(request: OffsetCommitRequest, call: Call) -> list[OffsetRows] | None:
    """None unless all are there, and each is named once."""
    image, found = call.services.metadata.image, dict[str, OffsetRows]()
    for topic in request.topics:
        partitions: object = topic.partitions
        if not isinstance(partitions, PlainPartitions) or topic.name in found:
            return None
        rows = known_rows(topic.name, partitions, image)
        if rows is None:
            return None
        found[topic.name] = rows
    return list(found.values()) or None


def known_rows(topic: str, partitions: PlainPartitions, image: ClusterImage) -> OffsetRows | None:
    known = image.topics.get(topic)
    name = _name if len(partitions) <= _MOST_KEPT else _name.__wrapped__
    named = name(topic, index_columns(partitions.rows))
    if known is None or named is None or not _has_all(known, named):
        return None
    return OffsetRows(topic, named.places, partitions.rows)


class _Named(NamedTuple):
    places: tuple[TopicPartition, ...]
    lowest: int
    highest: int


@lru_cache(maxsize=500)  # a consumer commits the same partitions again and again
def _name(topic: str, index_columns: bytes) -> _Named | None:
    """None if one is named twice."""
    indexes = read_indexes(index_columns)
    if len(dict.fromkeys(indexes)) < len(indexes):
        return None
    return _Named(tuple((topic, index) for index in indexes), min(indexes), max(indexes))


def _has_all(image: TopicImage, named: _Named) -> bool:
    count = len(image.partitions)
    # If the last of them is in its place, none before it is missing.
    return named.lowest >= 0 and named.highest < count == image.partitions[-1].index + 1


def _reply(call: Call, offsets: Sequence[OffsetRows], error: ErrorCode) -> None:
    if error:
        count = sum(len(each.places) for each in offsets)
        call.services.requests.count_errors(call.api_key, [error] * count)
    reply_flexible(call, OffsetCommitResponse(topics=[]), answer_parts(offsets, error))


def answer_parts(offsets: Sequence[OffsetRows], error: ErrorCode) -> list[bytes]:
    """What follows the throttle time."""
    parts = [write_uvarint(len(offsets) + 1)]
    for topic, places, rows in offsets:
        count = len(places)
        row = bytes(_INDEX_BYTES) + error.to_bytes(2, "big", signed=True) + b"\0"
        answer = bytearray(row * count)
        for byte in range(_INDEX_BYTES):
            answer[byte::_ANSWER_BYTES] = rows[byte::ROW_BYTES]
        parts += (compact(topic), write_uvarint(count + 1), bytes(answer), b"\0")
    return [*parts, b"\0"]
