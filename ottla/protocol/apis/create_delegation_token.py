"""CreateDelegationToken (38): a token with which others may act for its owner."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


class CreatableRenewers(Struct):
    principal_type: str
    principal_name: str


@message(key=38, newest=3, flexible_from=2)
class CreateDelegationTokenRequest(Message):
    owner_principal_type: str | None = field(since=3, default="")
    owner_principal_name: str | None = field(since=3, default="")
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


@message(key=38, newest=3, flexible_from=2)
class CreateDelegationTokenResponse(Message):
    error_code: Int16 = 0
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field(since=3, default="")
    token_requester_principal_name: str = field(since=3, default="")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: str
    hmac: bytes
    throttle_time_ms: Int32 = 0
