"""ListPartitionReassignments (46): the partitions that are being moved."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class ListPartitionReassignmentsTopics(Struct):
    name: str
    partition_indexes: list[Int32]


@message(key=46, newest=0, flexible_from=0)
class ListPartitionReassignmentsRequest(Message):
    timeout_ms: Int32 = 60_000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class OngoingPartitionReassignment(Struct):
    partition_index: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32]
    removing_replicas: list[Int32]


class OngoingTopicReassignment(Struct):
    name: str
    partitions: list[OngoingPartitionReassignment]


@message(key=46, newest=0, flexible_from=0)
class ListPartitionReassignmentsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    topics: list[OngoingTopicReassignment]
