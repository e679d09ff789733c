"""BeginQuorumEpoch (53): a new KRaft leader announces itself."""

from ottla.protocol.primitives import ZERO_UUID, Int16, Int32, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class PartitionData(Struct):
    partition_index: Int32
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    leader_id: Int32
    leader_epoch: Int32


class TopicData(Struct):
    topic_name: str
    partitions: list[PartitionData]


class LeaderEndpoint(Struct):
    name: str
    host: str
    port: UInt16


@message(key=53, newest=1, flexible_from=1)
class BeginQuorumEpochRequest(Message):
    cluster_id: str | None = None
    voter_id: Int32 = field(since=1, default=-1, ignorable=True)
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


@message(key=53, newest=1, flexible_from=1)
class BeginQuorumEpochResponse(Message):
    error_code: Int16 = 0
    topics: list[TopicResult]
    node_endpoints: list[NodeEndpoint] = field(since=1, default=[], tag=0)
