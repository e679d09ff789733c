"""AllocateProducerIds (67): a broker gets a block of producer ids from the controller."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, message


@message(key=67, newest=0, flexible_from=0)
class AllocateProducerIdsRequest(Message):
    broker_id: Int32
    broker_epoch: Int64 = -1


@message(key=67, newest=0, flexible_from=0)
class AllocateProducerIdsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id_start: Int64
    producer_id_len: Int32
