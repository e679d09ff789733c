"""Produce (0): a producer hands batches to the leaders of partitions."""

from ottla.protocol.primitives import Int16, Int32, Int64, Records
from ottla.protocol.schema import Message, Struct, field, message


class PartitionProduceData(Struct):
    index: Int32
    records: Records | None


class TopicProduceData(Struct):
    name: str
    partition_data: list[PartitionProduceData]


@message(key=0, newest=11, flexible_from=9)
class ProduceRequest(Message):
    transactional_id: str | None = field(since=3, default=None)
    acks: Int16
    timeout_ms: Int32
    topic_data: list[TopicProduceData]


class BatchIndexAndErrorMessage(Struct):
    batch_index: Int32
    batch_index_error_message: str | None = None


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class PartitionProduceResponse(Struct):
    index: Int32
    error_code: Int16 = 0
    base_offset: Int64
    log_append_time_ms: Int64 = field(since=2, default=-1, ignorable=True)
    log_start_offset: Int64 = field(since=5, default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = field(since=8, default=[], ignorable=True)
    error_message: str | None = field(since=8, default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch | None = field(since=10, default=None, tag=0)


class TopicProduceResponse(Struct):
    name: str
    partition_responses: list[PartitionProduceResponse]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(key=0, newest=11, flexible_from=9)
class ProduceResponse(Message):
    responses: list[TopicProduceResponse]
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    node_endpoints: list[NodeEndpoint] = field(since=10, default=[], tag=0)
