"""BrokerHeartbeat (63): a broker tells the KRaft controller how it is."""

from ottla.protocol.primitives import Int16, Int32, Int64, Uuid
from ottla.protocol.schema import Message, field, message


@message(key=63, newest=1, flexible_from=0)
class BrokerHeartbeatRequest(Message):
    broker_id: Int32
    broker_epoch: Int64 = -1
    current_metadata_offset: Int64
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: list[Uuid] = field(since=1, default=[], tag=0)


@message(key=63, newest=1, flexible_from=0)
class BrokerHeartbeatResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool
