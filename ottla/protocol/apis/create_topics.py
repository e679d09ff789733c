"""CreateTopics (19): new topics, with their partitions and configuration."""

from ottla.protocol.primitives import ZERO_UUID, Int8, Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class CreatableReplicaAssignment(Struct):
    partition_index: Int32
    broker_ids: list[Int32]


class CreatableTopicConfig(Struct):
    name: str
    value: str | None


class CreatableTopic(Struct):
    name: str
    num_partitions: Int32
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


@message(key=19, newest=7, flexible_from=5)
class CreateTopicsRequest(Message):
    topics: list[CreatableTopic]
    timeout_ms: Int32 = 60_000
    validate_only: bool = field(since=1, default=False)


class CreatableTopicConfigs(Struct):
    name: str
    value: str | None
    read_only: bool
    config_source: Int8 = -1
    is_sensitive: bool


class CreatableTopicResult(Struct):
    name: str
    topic_id: Uuid = field(since=7, default=ZERO_UUID, ignorable=True)
    error_code: Int16 = 0
    error_message: str | None = field(since=1, default="", ignorable=True)
    topic_config_error_code: Int16 = field(since=5, default=0, tag=0, ignorable=True)
    num_partitions: Int32 = field(since=5, default=-1, ignorable=True)
    replication_factor: Int16 = field(since=5, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = field(since=5, default=[], ignorable=True)


@message(key=19, newest=7, flexible_from=5)
class CreateTopicsResponse(Message):
    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    topics: list[CreatableTopicResult]
