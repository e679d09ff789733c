"""CreatePartitions (37): more partitions for a topic."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class CreatePartitionsAssignment(Struct):
    broker_ids: list[Int32]


class CreatePartitionsTopic(Struct):
    name: str
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


@message(key=37, newest=3, flexible_from=2)
class CreatePartitionsRequest(Message):
    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: bool


class CreatePartitionsTopicResult(Struct):
    name: str
    error_code: Int16 = 0
    error_message: str | None = None


@message(key=37, newest=3, flexible_from=2)
class CreatePartitionsResponse(Message):
    throttle_time_ms: Int32 = 0
    results: list[CreatePartitionsTopicResult]
