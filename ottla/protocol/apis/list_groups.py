"""ListGroups (16): the groups that a broker coordinates."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


@message(key=16, newest=5, flexible_from=3)
class ListGroupsRequest(Message):
    states_filter: list[str] = field(since=4, default=[])
    types_filter: list[str] = field(since=5, default=[])


class ListedGroup(Struct):
    group_id: str
    protocol_type: str
    group_state: str = field(since=4, default="", ignorable=True)
    group_type: str = field(since=5, default="", ignorable=True)


@message(key=16, newest=5, flexible_from=3)
class ListGroupsResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = 0
    groups: list[ListedGroup]
