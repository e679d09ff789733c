"""Metadata (3): the brokers, the topics, and who leads which partition."""

from ottla.protocol.primitives import ZERO_UUID, Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class MetadataRequestTopic(Struct):
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    name: str | None = field(nullable_since=10)


@message(key=3, newest=12, flexible_from=9)
class MetadataRequest(Message):
    topics: list[MetadataRequestTopic] | None = field(nullable_since=1)
    allow_auto_topic_creation: bool = field(since=4, default=True)
    include_cluster_authorized_operations: bool = field(since=8, until=10, default=False)
    include_topic_authorized_operations: bool = field(since=8, default=False)


class MetadataResponseBroker(Struct):
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(since=1, default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: Int16 = 0
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field(since=7, default=-1, ignorable=True)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = field(since=5, default=[], ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: Int16 = 0
    name: str | None = field(nullable_since=12)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    is_internal: bool = field(since=1, default=False, ignorable=True)
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: Int32 = field(since=8, default=-(2**31))


@message(key=3, newest=12, flexible_from=9)
class MetadataResponse(Message):
    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None = field(since=2, default=None, ignorable=True)
    controller_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: Int32 = field(since=8, until=10, default=-(2**31))
