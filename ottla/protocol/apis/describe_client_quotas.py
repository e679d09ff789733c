"""DescribeClientQuotas (48): the quotas that match users, client ids or addresses."""

from ottla.protocol.primitives import Float64, Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class ComponentData(Struct):
    entity_type: str
    match_type: Int8
    match: str | None


@message(key=48, newest=1, flexible_from=1)
class DescribeClientQuotasRequest(Message):
    components: list[ComponentData]
    strict: bool


class EntityData(Struct):
    entity_type: str
    entity_name: str | None


class ValueData(Struct):
    key: str
    value: Float64


class EntryData(Struct):
    entity: list[EntityData]
    values: list[ValueData]


@message(key=48, newest=1, flexible_from=1)
class DescribeClientQuotasResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    entries: list[EntryData] | None
