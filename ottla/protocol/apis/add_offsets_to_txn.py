"""AddOffsetsToTxn (25): a group's offsets join a transaction."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, message


@message(key=25, newest=4, flexible_from=3)
class AddOffsetsToTxnRequest(Message):
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    group_id: str


@message(key=25, newest=4, flexible_from=3)
class AddOffsetsToTxnResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
