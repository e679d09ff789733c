"""DescribeProducers (61): the producers that a partition remembers."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, message


class TopicRequest(Struct):
    name: str
    partition_indexes: list[Int32]


@message(key=61, newest=0, flexible_from=0)
class DescribeProducersRequest(Message):
    topics: list[TopicRequest]


class ProducerState(Struct):
    producer_id: Int64
    producer_epoch: Int32
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32
    current_txn_start_offset: Int64 = -1


class PartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    active_producers: list[ProducerState]


class TopicResponse(Struct):
    name: str
    partitions: list[PartitionResponse]


@message(key=61, newest=0, flexible_from=0)
class DescribeProducersResponse(Message):
    throttle_time_ms: Int32 = 0
    topics: list[TopicResponse]
