"""PushTelemetry (72): a client pushes its metrics."""

from ottla.protocol.primitives import Int8, Int16, Int32, Uuid
from ottla.protocol.schema import Message, message


@message(key=72, newest=0, flexible_from=0)
class PushTelemetryRequest(Message):
    client_instance_id: Uuid
    subscription_id: Int32
    terminating: bool
    compression_type: Int8
    metrics: bytes


@message(key=72, newest=0, flexible_from=0)
class PushTelemetryResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
