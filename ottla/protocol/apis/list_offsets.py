"""ListOffsets (2): the offset at a time, at the start or at the end of a partition."""

from ottla.protocol.primitives import Int8, Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


class ListOffsetsPartition(Struct):
    partition_index: Int32
    current_leader_epoch: Int32 = field(since=4, default=-1, ignorable=True)
    timestamp: Int64
    max_num_offsets: Int32 = field(until=0, default=1)


class ListOffsetsTopic(Struct):
    name: str
    partitions: list[ListOffsetsPartition]


@message(key=2, newest=9, flexible_from=6)
class ListOffsetsRequest(Message):
    replica_id: Int32
    isolation_level: Int8 = field(since=2, default=0)
    topics: list[ListOffsetsTopic]


class ListOffsetsPartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    old_style_offsets: list[Int64] = field(until=0, default=[])
    timestamp: Int64 = field(since=1, default=-1)
    offset: Int64 = field(since=1, default=-1)
    leader_epoch: Int32 = field(since=4, default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str
    partitions: list[ListOffsetsPartitionResponse]


@message(key=2, newest=9, flexible_from=6)
class ListOffsetsResponse(Message):
    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    topics: list[ListOffsetsTopicResponse]
