"""DeleteShareGroupState (86): the state of a share group goes away. Unstable in 3.9."""

from ottla.protocol.primitives import Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, message


class PartitionData(Struct):
    partition: Int32


class DeleteStateData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=86, newest=0, flexible_from=0)
class DeleteShareGroupStateRequest(Message):
    group_id: str
    topics: list[DeleteStateData]


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None


class DeleteStateResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=86, newest=0, flexible_from=0)
class DeleteShareGroupStateResponse(Message):
    results: list[DeleteStateResult]
