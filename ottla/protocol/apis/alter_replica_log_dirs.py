"""AlterReplicaLogDirs (34): moves replicas between the log directories of a broker."""

from ottla.protocol.primitives import Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class AlterReplicaLogDirTopic(Struct):
    name: str
    partitions: list[Int32]


class AlterReplicaLogDir(Struct):
    path: str
    topics: list[AlterReplicaLogDirTopic]


@message(key=34, newest=2, flexible_from=2)
class AlterReplicaLogDirsRequest(Message):
    dirs: list[AlterReplicaLogDir]


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: Int32
    error_code: Int16 = 0


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]


@message(key=34, newest=2, flexible_from=2)
class AlterReplicaLogDirsResponse(Message):
    throttle_time_ms: Int32 = 0
    results: list[AlterReplicaLogDirTopicResult]
