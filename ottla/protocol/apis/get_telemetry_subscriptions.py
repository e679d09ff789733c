"""GetTelemetrySubscriptions (71): a client asks which metrics it should push."""

from ottla.protocol.primitives import Int8, Int16, Int32, Uuid
from ottla.protocol.schema import Message, message


@message(key=71, newest=0, flexible_from=0)
class GetTelemetrySubscriptionsRequest(Message):
    client_instance_id: Uuid


@message(key=71, newest=0, flexible_from=0)
class GetTelemetrySubscriptionsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    client_instance_id: Uuid
    subscription_id: Int32
    accepted_compression_types: list[Int8]
    push_interval_ms: Int32
    telemetry_max_bytes: Int32
    delta_temporality: bool
    requested_metrics: list[str]
