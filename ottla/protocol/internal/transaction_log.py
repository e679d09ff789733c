"""A transactional id's state in `__transaction_state`: its key and its value."""

from ottla.protocol.primitives import Int8, Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, message


@message(newest=0, flexible_from=None)
class TransactionLogKey(Message):
    transactional_id: str


class PartitionsSchema(Struct):
    topic: str
    partition_ids: list[Int32]


@message(newest=1, flexible_from=1)
class TransactionLogValue(Message):
    producer_id: Int64
    producer_epoch: Int16
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
