"""RenewDelegationToken (39): a delegation token lives longer."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, message


@message(key=39, newest=2, flexible_from=2)
class RenewDelegationTokenRequest(Message):
    hmac: bytes
    renew_period_ms: Int64


@message(key=39, newest=2, flexible_from=2)
class RenewDelegationTokenResponse(Message):
    error_code: Int16 = 0
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32 = 0
