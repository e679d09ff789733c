"""RemoveRaftVoter (81): a voter leaves the KRaft quorum."""

from ottla.protocol.primitives import Int16, Int32, Uuid
from ottla.protocol.schema import Message, message


@message(key=81, newest=0, flexible_from=0)
class RemoveRaftVoterRequest(Message):
    cluster_id: str | None
    voter_id: Int32
    voter_directory_id: Uuid


@message(key=81, newest=0, flexible_from=0)
class RemoveRaftVoterResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
