"""OffsetForLeaderEpoch (23): where a leader epoch ended, to find out where logs diverge."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


class OffsetForLeaderPartition(Struct):
    partition: Int32
    current_leader_epoch: Int32 = field(since=2, default=-1, ignorable=True)
    leader_epoch: Int32


class OffsetForLeaderTopic(Struct):
    topic: str
    partitions: list[OffsetForLeaderPartition]


@message(key=23, newest=4, flexible_from=4)
class OffsetForLeaderEpochRequest(Message):
    replica_id: Int32 = field(since=3, default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic]


class EpochEndOffset(Struct):
    error_code: Int16 = 0
    partition: Int32
    leader_epoch: Int32 = field(since=1, default=-1, ignorable=True)
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(Struct):
    topic: str
    partitions: list[EpochEndOffset]


@message(key=23, newest=4, flexible_from=4)
class OffsetForLeaderEpochResponse(Message):
    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    topics: list[OffsetForLeaderTopicResult]
