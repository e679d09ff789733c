"""FetchSnapshot (59): a KRaft replica reads a snapshot in pieces."""

from ottla.protocol.primitives import (
    ZERO_UUID,
    Int16,
    Int32,
    Int64,
    Records,
    UInt16,
    Uuid,
)
from ottla.protocol.schema import Message, Struct, field, message


class SnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class PartitionSnapshot(Struct):
    partition: Int32
    current_leader_epoch: Int32
    snapshot_id: SnapshotId
    position: Int64
    replica_directory_id: Uuid = field(since=1, default=ZERO_UUID, tag=0, ignorable=True)


class TopicSnapshot(Struct):
    name: str
    partitions: list[PartitionSnapshot]


@message(key=59, newest=1, flexible_from=0)
class FetchSnapshotRequest(Message):
    cluster_id: str | None = field(default=None, tag=0)
    replica_id: Int32 = -1
    max_bytes: Int32 = 0x7FFF_FFFF
    topics: list[TopicSnapshot]


class LeaderIdAndEpoch(Struct):
    leader_id: Int32
    leader_epoch: Int32


class PartitionSnapshotResult(Struct):
    index: Int32
    error_code: Int16 = 0
    snapshot_id: SnapshotId
    current_leader: LeaderIdAndEpoch | None = field(default=None, tag=0)
    size: Int64
    position: Int64
    unaligned_records: Records


class TopicSnapshotResult(Struct):
    name: str
    partitions: list[PartitionSnapshotResult]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: UInt16


@message(key=59, newest=1, flexible_from=0)
class FetchSnapshotResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    topics: list[TopicSnapshotResult]
    node_endpoints: list[NodeEndpoint] = field(since=1, default=[], tag=0)
