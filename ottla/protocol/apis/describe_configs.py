"""DescribeConfigs (32): how topics and brokers are configured, and by what."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class DescribeConfigsResource(Struct):
    resource_type: Int8
    resource_name: str
    configuration_keys: list[str] | None


@message(key=32, newest=4, flexible_from=4)
class DescribeConfigsRequest(Message):
    resources: list[DescribeConfigsResource]
    include_synonyms: bool = field(since=1, default=False)
    include_documentation: bool = field(since=3, default=False)


class DescribeConfigsSynonym(Struct):
    name: str
    value: str | None
    source: Int8


class DescribeConfigsResourceResult(Struct):
    name: str
    value: str | None
    read_only: bool
    is_default: bool = field(until=0, default=False)
    config_source: Int8 = field(since=1, default=-1, ignorable=True)
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym] = field(since=1, default=[], ignorable=True)
    config_type: Int8 = field(since=3, default=0, ignorable=True)
    documentation: str | None = field(since=3, default="", ignorable=True)


class DescribeConfigsResult(Struct):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str
    configs: list[DescribeConfigsResourceResult]


@message(key=32, newest=4, flexible_from=4)
class DescribeConfigsResponse(Message):
    throttle_time_ms: Int32 = 0
    results: list[DescribeConfigsResult]
