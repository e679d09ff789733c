"""DescribeTopicPartitions (75): topics and their partitions, page by page."""

from ottla.protocol.primitives import Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, message


class TopicRequest(Struct):
    name: str


class Cursor(Struct):
    topic_name: str
    partition_index: Int32


@message(key=75, newest=0, flexible_from=0)
class DescribeTopicPartitionsRequest(Message):
    topics: list[TopicRequest]
    response_partition_limit: Int32 = 2_000
    cursor: Cursor | None = None


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: Int16 = 0
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32]


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: Int16 = 0
    name: str | None
    topic_id: Uuid
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: Int32 = -(2**31)


@message(key=75, newest=0, flexible_from=0)
class DescribeTopicPartitionsResponse(Message):
    throttle_time_ms: Int32 = 0
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: Cursor | None = None
