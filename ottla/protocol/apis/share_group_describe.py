"""ShareGroupDescribe (77): the state and members of share groups. Unstable in 3.9."""

from ottla.protocol.primitives import Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, message


@message(key=77, newest=0, flexible_from=0)
class ShareGroupDescribeRequest(Message):
    group_ids: list[str]
    include_authorized_operations: bool


class TopicPartitions(Struct):
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


class Assignment(Struct):
    topic_partitions: list[TopicPartitions]


class Member(Struct):
    member_id: str
    rack_id: str | None = None
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    assignment: Assignment


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: str | None = None
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: str
    members: list[Member]
    authorized_operations: Int32 = -(2**31)


@message(key=77, newest=0, flexible_from=0)
class ShareGroupDescribeResponse(Message):
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup]
