"""Heartbeat (12): a member says that it is alive, and hears when to rejoin."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, field, message


@message(key=12, newest=4, flexible_from=4)
class HeartbeatRequest(Message):
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field(since=3, default=None)


@message(key=12, newest=4, flexible_from=4)
class HeartbeatResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = 0
