"""WriteShareGroupState (85): stores the state of a share group. Unstable in 3.9."""

from ottla.protocol.primitives import Int8, Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, message


class StateBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class PartitionData(Struct):
    partition: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    state_batches: list[StateBatch]


class WriteStateData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=85, newest=0, flexible_from=0)
class WriteShareGroupStateRequest(Message):
    group_id: str
    topics: list[WriteStateData]


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None


class WriteStateResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=85, newest=0, flexible_from=0)
class WriteShareGroupStateResponse(Message):
    results: list[WriteStateResult]
