"""ControlledShutdown (7): a broker asks the controller to move its leaders away."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


@message(key=7, newest=3, flexible_from=3)
class ControlledShutdownRequest(Message):
    broker_id: Int32
    broker_epoch: Int64 = field(since=2, default=-1, ignorable=True)


class RemainingPartition(Struct):
    topic_name: str
    partition_index: Int32


@message(key=7, newest=3, flexible_from=3)
class ControlledShutdownResponse(Message):
    error_code: Int16 = 0
    remaining_partitions: list[RemainingPartition]
