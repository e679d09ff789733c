"""CreateDelegationToken: refused where clients are not authenticated."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.delegation_tokens import (
    ANONYMOUS_NAME,
    ANONYMOUS_TYPE,
    NO_TIME,
    not_allowed,
)
from ottla.protocol.apis.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.protocol.errors import KafkaError

_REQUESTER_FROM = 3  # KIP-373: a token may be for somebody else


def handle_create_delegation_token(
    request: CreateDelegationTokenRequest, call: Call
) -> CreateDelegationTokenResponse:
    response = refuse(request, not_allowed(call))
    if call.version >= _REQUESTER_FROM:
        response.token_requester_principal_type = ANONYMOUS_TYPE
        response.token_requester_principal_name = ANONYMOUS_NAME
    return response


def refuse(
    request: CreateDelegationTokenRequest, error: KafkaError
) -> CreateDelegationTokenResponse:
    owner_type, owner_name = ANONYMOUS_TYPE, ANONYMOUS_NAME
    if request.owner_principal_name:
        owner_type, owner_name = request.owner_principal_type or "", request.owner_principal_name
    return CreateDelegationTokenResponse(
        error_code=error.code,
        principal_type=owner_type,
        principal_name=owner_name,
        issue_timestamp_ms=NO_TIME,
        expiry_timestamp_ms=NO_TIME,
        max_timestamp_ms=NO_TIME,
        token_id="",
        hmac=b"",
    )
