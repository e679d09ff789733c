"""UpdateMetadata (6): the controller tells every broker what the cluster looks like."""

from ottla.protocol.primitives import ZERO_UUID, Int8, Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class UpdateMetadataPartitionState(Struct):
    topic_name: str = field(until=4, default="", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    zk_version: Int32
    replicas: list[Int32]
    offline_replicas: list[Int32] = field(since=4, default=[], ignorable=True)


class UpdateMetadataTopicState(Struct):
    topic_name: str
    topic_id: Uuid = field(since=7, default=ZERO_UUID, ignorable=True)
    partition_states: list[UpdateMetadataPartitionState]


class UpdateMetadataEndpoint(Struct):
    port: Int32
    host: str
    listener: str = field(since=3, default="", ignorable=True)
    security_protocol: Int16


class UpdateMetadataBroker(Struct):
    id: Int32
    v0_host: str = field(until=0, default="", ignorable=True)
    v0_port: Int32 = field(until=0, default=0, ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = field(since=1, default=[], ignorable=True)
    rack: str | None = field(since=2, default="", ignorable=True)


@message(key=6, newest=8, flexible_from=6)
class UpdateMetadataRequest(Message):
    controller_id: Int32
    is_k_raft_controller: bool = field(since=8, default=False)
    type: Int8 = field(since=8, default=0, tag=0)
    controller_epoch: Int32
    broker_epoch: Int64 = field(since=5, default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = field(until=4, default=[])
    topic_states: list[UpdateMetadataTopicState] = field(since=5, default=[])
    live_brokers: list[UpdateMetadataBroker]


@message(key=6, newest=8, flexible_from=6)
class UpdateMetadataResponse(Message):
    error_code: Int16 = 0
