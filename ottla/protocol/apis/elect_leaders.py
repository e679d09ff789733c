"""ElectLeaders (43): elects the preferred, or any living, replica as leader."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class TopicPartitions(Struct):
    topic: str
    partitions: list[Int32]


@message(key=43, newest=2, flexible_from=2)
class ElectLeadersRequest(Message):
    election_type: Int8 = field(since=1, default=0)
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = 60_000


class PartitionResult(Struct):
    partition_id: Int32
    error_code: Int16 = 0
    error_message: str | None


class ReplicaElectionResult(Struct):
    topic: str
    partition_result: list[PartitionResult]


@message(key=43, newest=2, flexible_from=2)
class ElectLeadersResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(since=1, default=0)
    replica_election_results: list[ReplicaElectionResult]
