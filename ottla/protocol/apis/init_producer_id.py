"""InitProducerId (22): an idempotent or transactional producer gets its id and epoch."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, field, message


@message(key=22, newest=5, flexible_from=2)
class InitProducerIdRequest(Message):
    transactional_id: str | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = field(since=3, default=-1)
    producer_epoch: Int16 = field(since=3, default=-1)


@message(key=22, newest=5, flexible_from=2)
class InitProducerIdResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16
