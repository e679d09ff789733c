"""What stands before every request and response."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, field, message


@message(newest=2, flexible_from=2)
class RequestHeader(Message):
    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    # Never compact: a broker reads it before it knows whether it speaks the version.
    client_id: str | None = field(since=1, compact=False, default="", ignorable=True)


@message(newest=1, flexible_from=1)
class ResponseHeader(Message):
    correlation_id: Int32
