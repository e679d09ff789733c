"""A group's generation in `__consumer_offsets`: its key and its value."""

from ottla.protocol.primitives import Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


@message(oldest=2, newest=2, flexible_from=None)
class GroupMetadataKey(Message):
    group: str


class MemberMetadata(Struct):
    member_id: str
    group_instance_id: str | None = field(since=3, default=None, ignorable=True)
    client_id: str
    client_host: str
    rebalance_timeout: Int32 = field(since=1, default=-1, ignorable=True)
    session_timeout: Int32
    subscription: bytes
    assignment: bytes


@message(newest=4, flexible_from=4)
class GroupMetadataValue(Message):
    protocol_type: str
    generation: Int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: Int64 = field(since=2, default=-1, ignorable=True)
    members: list[MemberMetadata]
