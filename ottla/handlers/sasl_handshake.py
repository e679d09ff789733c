"""SaslHandshake: on a listener without SASL there is nothing to agree on."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_sasl_handshake(request: SaslHandshakeRequest, call: Call) -> SaslHandshakeResponse:
    detail = f"the listener {call.listener} has no SASL"
    raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE, detail)


def refuse(request: SaslHandshakeRequest, error: KafkaError) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=error.code, mechanisms=[])
