"""JoinGroup (11): a member enters a group and waits for the others."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class JoinGroupRequestProtocol(Struct):
    name: str
    metadata: bytes


@message(key=11, newest=9, flexible_from=6)
class JoinGroupRequest(Message):
    group_id: str
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = field(since=1, default=-1, ignorable=True)
    member_id: str
    group_instance_id: str | None = field(since=5, default=None)
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None = field(since=8, default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: str
    group_instance_id: str | None = field(since=5, default=None, ignorable=True)
    metadata: bytes


@message(key=11, newest=9, flexible_from=6)
class JoinGroupResponse(Message):
    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: str | None = field(since=7, default=None, ignorable=True)
    protocol_name: str | None = field(nullable_since=7)
    leader: str
    skip_assignment: bool = field(since=9, default=False)
    member_id: str
    members: list[JoinGroupResponseMember]
