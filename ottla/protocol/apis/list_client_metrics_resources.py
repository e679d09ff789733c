"""ListClientMetricsResources (74): the configured subscriptions to client metrics."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, message


@message(key=74, newest=0, flexible_from=0)
class ListClientMetricsResourcesRequest(Message):
    """It has no fields."""


class ClientMetricsResource(Struct):
    name: str


@message(key=74, newest=0, flexible_from=0)
class ListClientMetricsResourcesResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    client_metrics_resources: list[ClientMetricsResource]
