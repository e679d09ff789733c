"""UnregisterBroker (64): a KRaft cluster forgets a broker."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, message


@message(key=64, newest=0, flexible_from=0)
class UnregisterBrokerRequest(Message):
    broker_id: Int32


@message(key=64, newest=0, flexible_from=0)
class UnregisterBrokerResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
