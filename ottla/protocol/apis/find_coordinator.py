"""FindCoordinator (10): which broker coordinates a group or a transactional id."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


@message(key=10, newest=6, flexible_from=3)
class FindCoordinatorRequest(Message):
    key: str = field(until=3, default="")
    key_type: Int8 = field(since=1, default=0)
    coordinator_keys: list[str] = field(since=4, default=[])


class Coordinator(Struct):
    key: str
    node_id: Int32
    host: str
    port: Int32
    error_code: Int16 = 0
    error_message: str | None


@message(key=10, newest=6, flexible_from=3)
class FindCoordinatorResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = field(until=3, default=0)
    error_message: str | None = field(since=1, until=3, default="", ignorable=True)
    node_id: Int32 = field(until=3, default=0)
    host: str = field(until=3, default="")
    port: Int32 = field(until=3, default=0)
    coordinators: list[Coordinator] = field(since=4, default=[])
