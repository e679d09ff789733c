"""OffsetCommit (8): a group stores how far it has read."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


class OffsetCommitRequestPartition(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=6, default=-1, ignorable=True)
    commit_timestamp: Int64 = field(since=1, until=1, default=-1)
    committed_metadata: str | None


class OffsetCommitRequestTopic(Struct):
    name: str
    partitions: list[OffsetCommitRequestPartition]


@message(key=8, newest=9, flexible_from=8)
class OffsetCommitRequest(Message):
    group_id: str
    generation_id_or_member_epoch: Int32 = field(since=1, default=-1, ignorable=True)
    member_id: str = field(since=1, default="", ignorable=True)
    group_instance_id: str | None = field(since=7, default=None)
    retention_time_ms: Int64 = field(since=2, until=4, default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic]


class OffsetCommitResponsePartition(Struct):
    partition_index: Int32
    error_code: Int16 = 0


class OffsetCommitResponseTopic(Struct):
    name: str
    partitions: list[OffsetCommitResponsePartition]


@message(key=8, newest=9, flexible_from=8)
class OffsetCommitResponse(Message):
    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    topics: list[OffsetCommitResponseTopic]
