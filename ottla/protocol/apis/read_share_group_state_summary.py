"""ReadShareGroupStateSummary (87): a share group's state without its batches. Unstable in 3.9."""

from ottla.protocol.primitives import Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, message


class PartitionData(Struct):
    partition: Int32
    leader_epoch: Int32


class ReadStateSummaryData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=87, newest=0, flexible_from=0)
class ReadShareGroupStateSummaryRequest(Message):
    group_id: str
    topics: list[ReadStateSummaryData]


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    state_epoch: Int32
    start_offset: Int64


class ReadStateSummaryResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=87, newest=0, flexible_from=0)
class ReadShareGroupStateSummaryResponse(Message):
    results: list[ReadStateSummaryResult]
