"""ConsumerGroupHeartbeat (68): a member of a KIP-848 group joins, stays or leaves."""

from ottla.protocol.primitives import Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, message


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


@message(key=68, newest=0, flexible_from=0)
class ConsumerGroupHeartbeatRequest(Message):
    group_id: str
    member_id: str
    member_epoch: Int32
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[str] | None = None
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None


class Assignment(Struct):
    topic_partitions: list[TopicPartitions]


@message(key=68, newest=0, flexible_from=0)
class ConsumerGroupHeartbeatResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = None
