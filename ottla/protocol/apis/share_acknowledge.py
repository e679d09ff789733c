"""ShareAcknowledge (79): a share consumer accepts, releases or rejects records. Unstable in 3.9."""

from ottla.protocol.primitives import Int8, Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, message


class AcknowledgementBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    acknowledge_types: list[Int8]


class AcknowledgePartition(Struct):
    partition_index: Int32
    acknowledgement_batches: list[AcknowledgementBatch]


class AcknowledgeTopic(Struct):
    topic_id: Uuid
    partitions: list[AcknowledgePartition]


@message(key=79, newest=0, flexible_from=0)
class ShareAcknowledgeRequest(Message):
    group_id: str | None = None
    member_id: str | None
    share_session_epoch: Int32
    topics: list[AcknowledgeTopic]


class LeaderIdAndEpoch(Struct):
    leader_id: Int32
    leader_epoch: Int32


class PartitionData(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    current_leader: LeaderIdAndEpoch


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(key=79, newest=0, flexible_from=0)
class ShareAcknowledgeResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[NodeEndpoint]
