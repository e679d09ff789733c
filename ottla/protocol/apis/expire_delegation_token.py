"""ExpireDelegationToken (40): a delegation token ends, now or at a time."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, message


@message(key=40, newest=2, flexible_from=2)
class ExpireDelegationTokenRequest(Message):
    hmac: bytes
    expiry_time_period_ms: Int64


@message(key=40, newest=2, flexible_from=2)
class ExpireDelegationTokenResponse(Message):
    error_code: Int16 = 0
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32 = 0
