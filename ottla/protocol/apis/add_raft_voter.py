"""AddRaftVoter (80): a voter joins the KRaft quorum."""

from ottla.protocol.primitives import Int16, Int32, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, message


class Listener(Struct):
    name: str
    host: str
    port: UInt16


@message(key=80, newest=0, flexible_from=0)
class AddRaftVoterRequest(Message):
    cluster_id: str | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]


@message(key=80, newest=0, flexible_from=0)
class AddRaftVoterResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
