"""CreateAcls (30): new access rules."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class AclCreation(Struct):
    resource_type: Int8
    resource_name: str
    resource_pattern_type: Int8 = field(since=1, default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@message(key=30, newest=3, flexible_from=2)
class CreateAclsRequest(Message):
    creations: list[AclCreation]


class AclCreationResult(Struct):
    error_code: Int16 = 0
    error_message: str | None


@message(key=30, newest=3, flexible_from=2)
class CreateAclsResponse(Message):
    throttle_time_ms: Int32 = 0
    results: list[AclCreationResult]
