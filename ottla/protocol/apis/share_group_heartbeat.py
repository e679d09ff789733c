"""ShareGroupHeartbeat (76): a member of a share group joins, stays or leaves. Unstable in 3.9."""

from ottla.protocol.primitives import Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, message


@message(key=76, newest=0, flexible_from=0)
class ShareGroupHeartbeatRequest(Message):
    group_id: str
    member_id: str
    member_epoch: Int32
    rack_id: str | None = None
    subscribed_topic_names: list[str] | None = None


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class Assignment(Struct):
    topic_partitions: list[TopicPartitions]


@message(key=76, newest=0, flexible_from=0)
class ShareGroupHeartbeatResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = None
