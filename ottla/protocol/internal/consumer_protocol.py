"""What consumers tell each other inside JoinGroup and SyncGroup: what they want, what they get."""

from ottla.protocol.primitives import Int32
from ottla.protocol.schema import Message, Struct, field, message


class TopicPartition(Struct):
    topic: str
    partitions: list[Int32]


@message(newest=3, flexible_from=None)
class ConsumerProtocolSubscription(Message):
    topics: list[str]
    user_data: bytes | None = None
    owned_partitions: list[TopicPartition] = field(since=1, default=[], ignorable=True)
    generation_id: Int32 = field(since=2, default=-1, ignorable=True)
    rack_id: str | None = field(since=3, default=None, ignorable=True)


@message(newest=3, flexible_from=None)
class ConsumerProtocolAssignment(Message):
    assigned_partitions: list[TopicPartition]
    user_data: bytes | None = None
