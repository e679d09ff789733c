"""Fetch (1): a consumer, or a follower, reads batches from a leader."""

from ottla.protocol.primitives import (
    ZERO_UUID,
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    Uuid,
)
from ottla.protocol.schema import Message, Struct, field, message


class ReplicaState(Struct):
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchPartition(Struct):
    partition: Int32
    current_leader_epoch: Int32 = field(since=9, default=-1, ignorable=True)
    fetch_offset: Int64
    last_fetched_epoch: Int32 = field(since=12, default=-1)
    log_start_offset: Int64 = field(since=5, default=-1, ignorable=True)
    partition_max_bytes: Int32
    replica_directory_id: Uuid = field(since=17, default=ZERO_UUID, tag=0, ignorable=True)


class FetchTopic(Struct):
    topic: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partitions: list[FetchPartition]


class ForgottenTopic(Struct):
    topic: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partitions: list[Int32]


@message(key=1, newest=17, flexible_from=12)
class FetchRequest(Message):
    cluster_id: str | None = field(since=12, default=None, tag=0, ignorable=True)
    replica_id: Int32 = field(until=14, default=-1)
    replica_state: ReplicaState | None = field(since=15, default=None, tag=1)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = field(since=3, default=0x7FFF_FFFF, ignorable=True)
    isolation_level: Int8 = field(since=4, default=0, ignorable=True)
    session_id: Int32 = field(since=7, default=0, ignorable=True)
    session_epoch: Int32 = field(since=7, default=-1, ignorable=True)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic] = field(since=7, default=[])
    rack_id: str = field(since=11, default="", ignorable=True)


class EpochEndOffset(Struct):
    epoch: Int32 = -1
    end_offset: Int64 = -1


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class SnapshotId(Struct):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Struct):
    producer_id: Int64
    first_offset: Int64


class PartitionData(Struct):
    partition_index: Int32
    error_code: Int16 = 0
    high_watermark: Int64
    last_stable_offset: Int64 = field(since=4, default=-1, ignorable=True)
    log_start_offset: Int64 = field(since=5, default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset | None = field(since=12, default=None, tag=0)
    current_leader: LeaderIdAndEpoch | None = field(since=12, default=None, tag=1)
    snapshot_id: SnapshotId | None = field(since=12, default=None, tag=2)
    aborted_transactions: list[AbortedTransaction] | None = field(
        since=4, default=[], ignorable=True
    )
    preferred_read_replica: Int32 = field(since=11, default=-1)
    records: Records | None


class FetchableTopicResponse(Struct):
    topic: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partitions: list[PartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(key=1, newest=17, flexible_from=12)
class FetchResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = field(since=7, default=0, ignorable=True)
    session_id: Int32 = field(since=7, default=0)
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint] = field(since=16, default=[], tag=0)
