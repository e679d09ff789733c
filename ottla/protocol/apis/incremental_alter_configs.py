"""IncrementalAlterConfigs (44): sets, deletes, appends to or subtracts from single values."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class AlterableConfig(Struct):
    name: str
    config_operation: Int8
    value: str | None


class AlterConfigsResource(Struct):
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


@message(key=44, newest=1, flexible_from=1)
class IncrementalAlterConfigsRequest(Message):
    resources: list[AlterConfigsResource]
    validate_only: bool


class AlterConfigsResourceResponse(Struct):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str


@message(key=44, newest=1, flexible_from=1)
class IncrementalAlterConfigsResponse(Message):
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse]
