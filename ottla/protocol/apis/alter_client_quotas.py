"""AlterClientQuotas (49): sets or removes quotas."""

from ottla.protocol.primitives import Float64, Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class EntityData(Struct):
    entity_type: str
    entity_name: str | None


class OpData(Struct):
    key: str
    value: Float64
    remove: bool


class EntryData(Struct):
    entity: list[EntityData]
    ops: list[OpData]


@message(key=49, newest=1, flexible_from=1)
class AlterClientQuotasRequest(Message):
    entries: list[EntryData]
    validate_only: bool


class EntryResult(Struct):
    error_code: Int16 = 0
    error_message: str | None
    entity: list[EntityData]


@message(key=49, newest=1, flexible_from=1)
class AlterClientQuotasResponse(Message):
    throttle_time_ms: Int32 = 0
    entries: list[EntryResult]
