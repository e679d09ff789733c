"""DeleteGroups (42): empty groups go away, with their offsets."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, message


@message(key=42, newest=2, flexible_from=2)
class DeleteGroupsRequest(Message):
    groups_names: list[str]


class DeletableGroupResult(Struct):
    group_id: str
    error_code: Int16 = 0


@message(key=42, newest=2, flexible_from=2)
class DeleteGroupsResponse(Message):
    throttle_time_ms: Int32 = 0
    results: list[DeletableGroupResult]
