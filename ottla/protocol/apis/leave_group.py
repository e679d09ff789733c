"""LeaveGroup (13): members leave a group at once instead of by timeout."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class MemberIdentity(Struct):
    member_id: str
    group_instance_id: str | None = None
    reason: str | None = field(since=5, default=None, ignorable=True)


@message(key=13, newest=5, flexible_from=4)
class LeaveGroupRequest(Message):
    group_id: str
    member_id: str = field(until=2, default="")
    members: list[MemberIdentity] = field(since=3, default=[])


class MemberResponse(Struct):
    member_id: str
    group_instance_id: str | None
    error_code: Int16 = 0


@message(key=13, newest=5, flexible_from=4)
class LeaveGroupResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = 0
    members: list[MemberResponse] = field(since=3, default=[])
