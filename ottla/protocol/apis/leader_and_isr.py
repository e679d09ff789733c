"""LeaderAndIsr (4): the controller makes a broker leader or follower of partitions."""

from ottla.protocol.primitives import ZERO_UUID, Int8, Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class LeaderAndIsrPartitionState(Struct):
    topic_name: str = field(until=1, default="", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    partition_epoch: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32] = field(since=3, default=[], ignorable=True)
    removing_replicas: list[Int32] = field(since=3, default=[], ignorable=True)
    is_new: bool = field(since=1, default=False, ignorable=True)
    leader_recovery_state: Int8 = field(since=6, default=0)


class LeaderAndIsrTopicState(Struct):
    topic_name: str
    topic_id: Uuid = field(since=5, default=ZERO_UUID, ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState]


class LeaderAndIsrLiveLeader(Struct):
    broker_id: Int32
    host_name: str
    port: Int32


@message(key=4, newest=7, flexible_from=4)
class LeaderAndIsrRequest(Message):
    controller_id: Int32
    is_k_raft_controller: bool = field(since=7, default=False)
    controller_epoch: Int32
    broker_epoch: Int64 = field(since=2, default=-1, ignorable=True)
    type: Int8 = field(since=5, default=0)
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = field(until=1, default=[])
    topic_states: list[LeaderAndIsrTopicState] = field(since=2, default=[])
    live_leaders: list[LeaderAndIsrLiveLeader]


class LeaderAndIsrPartitionError(Struct):
    topic_name: str = field(until=4, default="", ignorable=True)
    partition_index: Int32
    error_code: Int16 = 0


class LeaderAndIsrTopicError(Struct):
    topic_id: Uuid
    partition_errors: list[LeaderAndIsrPartitionError]


@message(key=4, newest=7, flexible_from=4)
class LeaderAndIsrResponse(Message):
    error_code: Int16 = 0
    partition_errors: list[LeaderAndIsrPartitionError] = field(until=4, default=[])
    topics: list[LeaderAndIsrTopicError] = field(since=5, default=[])
