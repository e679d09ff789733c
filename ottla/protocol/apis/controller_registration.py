"""ControllerRegistration (70): a KRaft controller registers with the active one."""

from ottla.protocol.primitives import Int16, Int32, UInt16, Uuid
from ottla.protocol.schema import Message, Struct, message


class Listener(Struct):
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


class Feature(Struct):
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=70, newest=0, flexible_from=0)
class ControllerRegistrationRequest(Message):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: bool
    listeners: list[Listener]
    features: list[Feature]


@message(key=70, newest=0, flexible_from=0)
class ControllerRegistrationResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
