"""DescribeQuorum (55): the voters and observers of the KRaft quorum."""

from ottla.protocol.primitives import ZERO_UUID, Int16, Int32, Int64, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class PartitionData(Struct):
    partition_index: Int32


class TopicData(Struct):
    topic_name: str
    partitions: list[PartitionData]


@message(key=55, newest=2, flexible_from=0)
class DescribeQuorumRequest(Message):
    topics: list[TopicData]


class ReplicaState(Struct):
    replica_id: Int32
    replica_directory_id: Uuid = field(since=2, default=ZERO_UUID)
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field(since=1, default=-1, ignorable=True)
    last_caught_up_timestamp: Int64 = field(since=1, default=-1, ignorable=True)


class PartitionQuorum(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = field(since=2, default="", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


class TopicQuorum(Struct):
    topic_name: str
    partitions: list[PartitionQuorum]


class Listener(Struct):
    name: str
    host: str
    port: UInt16


class Node(Struct):
    node_id: Int32
    listeners: list[Listener]


@message(key=55, newest=2, flexible_from=0)
class DescribeQuorumResponse(Message):
    error_code: Int16 = 0
    error_message: str | None = field(since=2, default="", ignorable=True)
    topics: list[TopicQuorum]
    nodes: list[Node] = field(since=2, default=[])
