"""AlterPartitionReassignments (45): moves partitions to other brokers, or stops moving them."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class ReassignablePartition(Struct):
    partition_index: Int32
    replicas: list[Int32] | None = None


class ReassignableTopic(Struct):
    name: str
    partitions: list[ReassignablePartition]


@message(key=45, newest=0, flexible_from=0)
class AlterPartitionReassignmentsRequest(Message):
    timeout_ms: Int32 = 60_000
    topics: list[ReassignableTopic]


class ReassignablePartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None


class ReassignableTopicResponse(Struct):
    name: str
    partitions: list[ReassignablePartitionResponse]


@message(key=45, newest=0, flexible_from=0)
class AlterPartitionReassignmentsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    responses: list[ReassignableTopicResponse]
