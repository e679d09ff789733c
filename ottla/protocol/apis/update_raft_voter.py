"""UpdateRaftVoter (82): a voter of the KRaft quorum has new endpoints."""

from ottla.protocol.primitives import Int16, Int32, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class Listener(Struct):
    name: str
    host: str
    port: UInt16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=82, newest=0, flexible_from=0)
class UpdateRaftVoterRequest(Message):
    cluster_id: str | None
    current_leader_epoch: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    k_raft_version_feature: KRaftVersionFeature


class CurrentLeader(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    host: str
    port: Int32


@message(key=82, newest=0, flexible_from=0)
class UpdateRaftVoterResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    current_leader: CurrentLeader | None = field(default=None, tag=0)
