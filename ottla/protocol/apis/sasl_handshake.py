"""SaslHandshake (17): a client picks a SASL mechanism."""

from ottla.protocol.primitives import Int16
from ottla.protocol.schema import Message, message


@message(key=17, newest=1, flexible_from=None)
class SaslHandshakeRequest(Message):
    mechanism: str


@message(key=17, newest=1, flexible_from=None)
class SaslHandshakeResponse(Message):
    error_code: Int16 = 0
    mechanisms: list[str]
