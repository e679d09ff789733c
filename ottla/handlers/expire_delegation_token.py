"""ExpireDelegationToken: refused where clients are not authenticated."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.delegation_tokens import NO_TIME, not_allowed
from ottla.protocol.apis.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.protocol.errors import KafkaError


def handle_expire_delegation_token(
    request: ExpireDelegationTokenRequest, call: Call
) -> ExpireDelegationTokenResponse:
    raise not_allowed(call)


def refuse(
    request: ExpireDelegationTokenRequest, error: KafkaError
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=NO_TIME)
