"""The state of a KIP-848 group in `__consumer_offsets`, key and value of each kind of record."""

from ottla.protocol.primitives import Int8, Int32, Uuid
from ottla.protocol.schema import Message, Struct, field, message


@message(oldest=3, newest=3, flexible_from=None)
class ConsumerGroupMetadataKey(Message):
    group_id: str


@message(newest=0, flexible_from=0)
class ConsumerGroupMetadataValue(Message):
    epoch: Int32


@message(oldest=4, newest=4, flexible_from=None)
class ConsumerGroupPartitionMetadataKey(Message):
    group_id: str


class PartitionMetadata(Struct):
    partition: Int32
    racks: list[str]


class TopicMetadata(Struct):
    topic_id: Uuid
    topic_name: str
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


@message(newest=0, flexible_from=0)
class ConsumerGroupPartitionMetadataValue(Message):
    topics: list[TopicMetadata]


@message(oldest=5, newest=5, flexible_from=None)
class ConsumerGroupMemberMetadataKey(Message):
    group_id: str
    member_id: str


class ClassicProtocol(Struct):
    name: str
    metadata: bytes


class ClassicMemberMetadata(Struct):
    session_timeout_ms: Int32
    supported_protocols: list[ClassicProtocol]


@message(newest=0, flexible_from=0)
class ConsumerGroupMemberMetadataValue(Message):
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: str | None
    # Absent, null and present are three different things here: absent means an empty struct.
    classic_member_metadata: ClassicMemberMetadata | None = field(tag=0, nullable_since=0)


@message(oldest=6, newest=6, flexible_from=None)
class ConsumerGroupTargetAssignmentMetadataKey(Message):
    group_id: str


@message(newest=0, flexible_from=0)
class ConsumerGroupTargetAssignmentMetadataValue(Message):
    assignment_epoch: Int32


@message(oldest=7, newest=7, flexible_from=None)
class ConsumerGroupTargetAssignmentMemberKey(Message):
    group_id: str
    member_id: str


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


@message(newest=0, flexible_from=0)
class ConsumerGroupTargetAssignmentMemberValue(Message):
    topic_partitions: list[TopicPartition]


@message(oldest=8, newest=8, flexible_from=None)
class ConsumerGroupCurrentMemberAssignmentKey(Message):
    group_id: str
    member_id: str


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


@message(newest=0, flexible_from=0)
class ConsumerGroupCurrentMemberAssignmentValue(Message):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]
