"""AlterPartition (56): a leader asks the controller to change the in-sync replicas."""

from ottla.protocol.primitives import ZERO_UUID, Int8, Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class BrokerState(Struct):
    broker_id: Int32
    broker_epoch: Int64 = -1


class PartitionData(Struct):
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = field(until=2, default=[])
    new_isr_with_epochs: list[BrokerState] = field(since=3, default=[])
    leader_recovery_state: Int8 = field(since=1, default=0)
    partition_epoch: Int32


class TopicData(Struct):
    topic_name: str = field(until=1, default="", ignorable=True)
    topic_id: Uuid = field(since=2, default=ZERO_UUID, ignorable=True)
    partitions: list[PartitionData]


@message(key=56, newest=3, flexible_from=0)
class AlterPartitionRequest(Message):
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: list[TopicData]


class PartitionResult(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = field(since=1, default=0, ignorable=True)
    partition_epoch: Int32


class TopicResult(Struct):
    topic_name: str = field(until=1, default="", ignorable=True)
    topic_id: Uuid = field(since=2, default=ZERO_UUID, ignorable=True)
    partitions: list[PartitionResult]


@message(key=56, newest=3, flexible_from=0)
class AlterPartitionResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    topics: list[TopicResult]
