"""EndTxn (26): a producer commits or aborts its transaction."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, message


@message(key=26, newest=4, flexible_from=3)
class EndTxnRequest(Message):
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    committed: bool


@message(key=26, newest=4, flexible_from=3)
class EndTxnResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
