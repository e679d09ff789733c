"""EndQuorumEpoch (54): a KRaft leader steps down."""

from ottla.protocol.primitives import Int16, Int32, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class ReplicaInfo(Struct):
    candidate_id: Int32
    candidate_directory_id: Uuid


class PartitionData(Struct):
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32
    preferred_successors: list[Int32] = field(until=0, default=[], ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field(since=1, default=[], ignorable=True)


class TopicData(Struct):
    topic_name: str
    partitions: list[PartitionData]


class LeaderEndpoint(Struct):
    name: str
    host: str
    port: UInt16


@message(key=54, newest=1, flexible_from=1)
class EndQuorumEpochRequest(Message):
    cluster_id: str | None = None
    topics: list[TopicData]
    leader_endpoints: list[LeaderEndpoint] = field(since=1, default=[], ignorable=True)


class PartitionResult(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    leader_id: Int32
    leader_epoch: Int32


class TopicResult(Struct):
    topic_name: str
    partitions: list[PartitionResult]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: UInt16


@message(key=54, newest=1, flexible_from=1)
class EndQuorumEpochResponse(Message):
    error_code: Int16 = 0
    topics: list[TopicResult]
    node_endpoints: list[NodeEndpoint] = field(since=1, default=[], tag=0)
