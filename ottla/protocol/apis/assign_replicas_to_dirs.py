"""AssignReplicasToDirs (73): a KRaft broker says in which log directories replicas lie."""

from ottla.protocol.primitives import Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, message


class PartitionData(Struct):
    partition_index: Int32


class TopicData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


class DirectoryData(Struct):
    id: Uuid
    topics: list[TopicData]


@message(key=73, newest=0, flexible_from=0)
class AssignReplicasToDirsRequest(Message):
    broker_id: Int32
    broker_epoch: Int64 = -1
    directories: list[DirectoryData]


class PartitionResult(Struct):
    partition_index: Int32
    error_code: Int16 = 0


class TopicResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


class DirectoryResult(Struct):
    id: Uuid
    topics: list[TopicResult]


@message(key=73, newest=0, flexible_from=0)
class AssignReplicasToDirsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    directories: list[DirectoryResult]
