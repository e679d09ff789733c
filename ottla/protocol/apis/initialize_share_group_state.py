"""InitializeShareGroupState (83): the start of a share group's state. Unstable in 3.9."""

from ottla.protocol.primitives import Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, message


class PartitionData(Struct):
    partition: Int32
    state_epoch: Int32
    start_offset: Int64


class InitializeStateData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=83, newest=0, flexible_from=0)
class InitializeShareGroupStateRequest(Message):
    group_id: str
    topics: list[InitializeStateData]


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None


class InitializeStateResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=83, newest=0, flexible_from=0)
class InitializeShareGroupStateResponse(Message):
    results: list[InitializeStateResult]
