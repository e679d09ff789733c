"""DescribeGroups (15): the state and members of groups."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


@message(key=15, newest=5, flexible_from=5)
class DescribeGroupsRequest(Message):
    groups: list[str]
    include_authorized_operations: bool = field(since=3, default=False)


class DescribedGroupMember(Struct):
    member_id: str
    group_instance_id: str | None = field(since=4, default=None, ignorable=True)
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


class DescribedGroup(Struct):
    error_code: Int16 = 0
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field(since=3, default=-(2**31))


@message(key=15, newest=5, flexible_from=5)
class DescribeGroupsResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    groups: list[DescribedGroup]
