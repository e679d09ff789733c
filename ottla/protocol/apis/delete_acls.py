"""DeleteAcls (31): the access rules that match a filter go away."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class DeleteAclsFilter(Struct):
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = field(since=1, default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


@message(key=31, newest=3, flexible_from=2)
class DeleteAclsRequest(Message):
    filters: list[DeleteAclsFilter]


class DeleteAclsMatchingAcl(Struct):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = field(since=1, default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class DeleteAclsFilterResult(Struct):
    error_code: Int16 = 0
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]


@message(key=31, newest=3, flexible_from=2)
class DeleteAclsResponse(Message):
    throttle_time_ms: Int32 = 0
    filter_results: list[DeleteAclsFilterResult]
