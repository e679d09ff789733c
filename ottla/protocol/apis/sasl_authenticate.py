"""SaslAuthenticate (36): carries the tokens of a SASL login."""

from ottla.protocol.primitives import Int16, Int64
from ottla.protocol.schema import Message, field, message


@message(key=36, newest=2, flexible_from=2)
class SaslAuthenticateRequest(Message):
    auth_bytes: bytes


@message(key=36, newest=2, flexible_from=2)
class SaslAuthenticateResponse(Message):
    error_code: Int16 = 0
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: Int64 = field(since=1, default=0, ignorable=True)
