"""DescribeAcls (29): the access rules that match a filter."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


@message(key=29, newest=3, flexible_from=2)
class DescribeAclsRequest(Message):
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = field(since=1, default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


class AclDescription(Struct):
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class DescribeAclsResource(Struct):
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = field(since=1, default=3)
    acls: list[AclDescription]


@message(key=29, newest=3, flexible_from=2)
class DescribeAclsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    resources: list[DescribeAclsResource]
