"""Envelope (58): a request forwarded to the controller, with the principal that sent it."""

from ottla.protocol.primitives import Int16
from ottla.protocol.schema import Message, message


@message(key=58, newest=0, flexible_from=0)
class EnvelopeRequest(Message):
    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes


@message(key=58, newest=0, flexible_from=0)
class EnvelopeResponse(Message):
    response_data: bytes | None = None
    error_code: Int16 = 0
