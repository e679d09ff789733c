"""RenewDelegationToken: refused where clients are not authenticated."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.delegation_tokens import NO_TIME, not_allowed
from ottla.protocol.apis.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ottla.protocol.errors import KafkaError


def handle_renew_delegation_token(
    request: RenewDelegationTokenRequest, call: Call
) -> RenewDelegationTokenResponse:
    raise not_allowed(call)


def refuse(request: RenewDelegationTokenRequest, error: KafkaError) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=NO_TIME)
