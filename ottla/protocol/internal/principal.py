"""A principal as an Envelope carries it from one broker to another."""

from ottla.protocol.schema import Message, message


@message(newest=0, flexible_from=0)
class DefaultPrincipalData(Message):
    type: str
    name: str
    token_authenticated: bool
