"""SyncGroup (14): the group's leader hands in the assignment, every member gets its part."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class SyncGroupRequestAssignment(Struct):
    member_id: str
    assignment: bytes


@message(key=14, newest=5, flexible_from=4)
class SyncGroupRequest(Message):
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field(since=3, default=None)
    protocol_type: str | None = field(since=5, default=None, ignorable=True)
    protocol_name: str | None = field(since=5, default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment]


@message(key=14, newest=5, flexible_from=4)
class SyncGroupResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = 0
    protocol_type: str | None = field(since=5, default=None, ignorable=True)
    protocol_name: str | None = field(since=5, default=None, ignorable=True)
    assignment: bytes
