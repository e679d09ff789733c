"""SaslAuthenticate: on a listener without SASL everybody is in already."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_sasl_authenticate(
    request: SaslAuthenticateRequest, call: Call
) -> SaslAuthenticateResponse:
    detail = f"the listener {call.listener} has no SASL: connect without it"
    raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE, detail)


def refuse(request: SaslAuthenticateRequest, error: KafkaError) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(
        error_code=error.code, error_message=error.detail or None, auth_bytes=b""
    )
