"""BrokerRegistration (62): a broker registers with the KRaft controller."""

from ottla.protocol.primitives import Int16, Int32, Int64, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class Listener(Struct):
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


class Feature(Struct):
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=62, newest=4, flexible_from=0)
class BrokerRegistrationRequest(Message):
    broker_id: Int32
    cluster_id: str
    incarnation_id: Uuid
    listeners: list[Listener]
    features: list[Feature]
    rack: str | None
    is_migrating_zk_broker: bool = field(since=1, default=False)
    log_dirs: list[Uuid] = field(since=2, default=[], ignorable=True)
    previous_broker_epoch: Int64 = field(since=3, default=-1, ignorable=True)


@message(key=62, newest=4, flexible_from=0)
class BrokerRegistrationResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    broker_epoch: Int64 = -1
