"""AlterConfigs (33): replaces the whole configuration of a resource."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class AlterableConfig(Struct):
    name: str
    value: str | None


class AlterConfigsResource(Struct):
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


@message(key=33, newest=2, flexible_from=2)
class AlterConfigsRequest(Message):
    resources: list[AlterConfigsResource]
    validate_only: bool


class AlterConfigsResourceResponse(Struct):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str


@message(key=33, newest=2, flexible_from=2)
class AlterConfigsResponse(Message):
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse]
