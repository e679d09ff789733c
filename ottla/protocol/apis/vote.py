"""Vote (52): a KRaft candidate asks for votes."""

from ottla.protocol.primitives import ZERO_UUID, Int16, Int32, Int64, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class PartitionData(Struct):
    partition_index: Int32
    candidate_epoch: Int32
    candidate_id: Int32
    candidate_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    last_offset_epoch: Int32
    last_offset: Int64


class TopicData(Struct):
    topic_name: str
    partitions: list[PartitionData]


@message(key=52, newest=1, flexible_from=0)
class VoteRequest(Message):
    cluster_id: str | None = None
    voter_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[TopicData]


class PartitionResult(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    leader_id: Int32
    leader_epoch: Int32
    vote_granted: bool


class TopicResult(Struct):
    topic_name: str
    partitions: list[PartitionResult]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: UInt16


@message(key=52, newest=1, flexible_from=0)
class VoteResponse(Message):
    error_code: Int16 = 0
    topics: list[TopicResult]
    node_endpoints: list[NodeEndpoint] = field(since=1, default=[], tag=0)
