"""The records of control batches: transaction markers, and those of KRaft."""

from ottla.protocol.primitives import ZERO_UUID, Int16, Int32, Int64, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class Voter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID)


@message(newest=1, flexible_from=0)
class LeaderChangeMessage(Message):
    version: Int16
    leader_id: Int32
    voters: list[Voter]
    granting_voters: list[Voter]


@message(newest=0, flexible_from=0)
class SnapshotHeaderRecord(Message):
    version: Int16
    last_contained_log_timestamp: Int64


@message(newest=0, flexible_from=0)
class SnapshotFooterRecord(Message):
    version: Int16


@message(newest=0, flexible_from=0)
class KRaftVersionRecord(Message):
    version: Int16
    k_raft_version: Int16


class Endpoint(Struct):
    name: str
    host: str
    port: UInt16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class RegisteredVoter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[Endpoint]
    k_raft_version_feature: KRaftVersionFeature


@message(newest=0, flexible_from=0)
class VotersRecord(Message):
    version: Int16
    voters: list[RegisteredVoter]


@message(newest=0, flexible_from=None)
class ControlRecordKey(Message):
    """Tells what a control record means; readers pass over types they do not know."""

    version: Int16 = 0
    type: Int16


@message(newest=0, flexible_from=None)
class EndTxnMarker(Message):
    """The value behind a COMMIT or ABORT key."""

    version: Int16 = 0
    coordinator_epoch: Int32
