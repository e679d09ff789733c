"""ReadShareGroupState (84): the stored state of a share group. Unstable in 3.9."""

from ottla.protocol.primitives import Int8, Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, message


class PartitionData(Struct):
    partition: Int32
    leader_epoch: Int32


class ReadStateData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=84, newest=0, flexible_from=0)
class ReadShareGroupStateRequest(Message):
    group_id: str
    topics: list[ReadStateData]


class StateBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    state_epoch: Int32
    start_offset: Int64
    state_batches: list[StateBatch]


class ReadStateResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=84, newest=0, flexible_from=0)
class ReadShareGroupStateResponse(Message):
    results: list[ReadStateResult]
