"""OffsetFetch (9): a group asks how far it has read."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


class OffsetFetchRequestTopic(Struct):
    name: str
    partition_indexes: list[Int32]


class OffsetFetchRequestGroup(Struct):
    group_id: str
    member_id: str | None = field(since=9, default=None, ignorable=True)
    member_epoch: Int32 = field(since=9, default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopic] | None


@message(key=9, newest=9, flexible_from=6)
class OffsetFetchRequest(Message):
    group_id: str = field(until=7, default="")
    topics: list[OffsetFetchRequestTopic] | None = field(until=7, nullable_since=2, default=[])
    groups: list[OffsetFetchRequestGroup] = field(since=8, default=[])
    require_stable: bool = field(since=7, default=False)


class OffsetFetchResponsePartition(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=5, default=-1, ignorable=True)
    metadata: str | None
    error_code: Int16 = 0


class OffsetFetchResponseTopic(Struct):
    name: str
    partitions: list[OffsetFetchResponsePartition]


class OffsetFetchResponseGroup(Struct):
    group_id: str
    topics: list[OffsetFetchResponseTopic]
    error_code: Int16 = 0


@message(key=9, newest=9, flexible_from=6)
class OffsetFetchResponse(Message):
    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = field(until=7, default=[])
    error_code: Int16 = field(since=2, until=7, default=0, ignorable=True)
    groups: list[OffsetFetchResponseGroup] = field(since=8, default=[])
