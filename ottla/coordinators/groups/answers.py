"""What clients ask of a group's offsets and of groups as a whole, and what they hear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode

TopicPartition = tuple[str, int]

NO_OFFSET = -1
NO_LEADER_EPOCH = -1
NO_TIMESTAMP = -1


class OffsetToCommit(NamedTuple):
    topic: str
    partition: int
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str | None = ""
    commit_ms: int = NO_TIMESTAMP  # OffsetCommit v1 says when; otherwise it is now


class FetchedOffset(NamedTuple):
    offset: int = NO_OFFSET
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


class PlainOffsets(NamedTuple):
    """Of one topic, in the form of the log's values: `records.PLAIN_BYTES` for each partition."""

    topic: str
    indexes: Sequence[int]
    values: bytes


class DeletedOffsets(NamedTuple):
    """`error` is the whole request's; then there are no partitions."""

    error: ErrorCode
    partitions: dict[TopicPartition, ErrorCode]


class DescribedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribedGroup(NamedTuple):
    error: ErrorCode
    state: str = ""  # as on the wire
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[DescribedMember, ...] = ()


class ListedGroup(NamedTuple):
    group_id: str
    protocol_type: str
    state: str
    type: str = "classic"
