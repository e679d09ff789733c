"""StopReplica (5): the controller tells a broker to let go of replicas, and perhaps delete them."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


class StopReplicaPartitionV0(Struct):
    topic_name: str
    partition_index: Int32


class StopReplicaTopicV1(Struct):
    name: str
    partition_indexes: list[Int32]


class StopReplicaPartitionState(Struct):
    partition_index: Int32
    leader_epoch: Int32 = -1
    delete_partition: bool


class StopReplicaTopicState(Struct):
    topic_name: str
    partition_states: list[StopReplicaPartitionState]


@message(key=5, newest=4, flexible_from=2)
class StopReplicaRequest(Message):
    controller_id: Int32
    is_k_raft_controller: bool = field(since=4, default=False)
    controller_epoch: Int32
    broker_epoch: Int64 = field(since=1, default=-1, ignorable=True)
    delete_partitions: bool = field(until=2, default=False)
    ungrouped_partitions: list[StopReplicaPartitionV0] = field(until=0, default=[])
    topics: list[StopReplicaTopicV1] = field(since=1, until=2, default=[])
    topic_states: list[StopReplicaTopicState] = field(since=3, default=[])


class StopReplicaPartitionError(Struct):
    topic_name: str
    partition_index: Int32
    error_code: Int16 = 0


@message(key=5, newest=4, flexible_from=2)
class StopReplicaResponse(Message):
    error_code: Int16 = 0
    partition_errors: list[StopReplicaPartitionError]
