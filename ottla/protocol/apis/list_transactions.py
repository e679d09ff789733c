"""ListTransactions (66): the transactional ids that a broker coordinates."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


@message(key=66, newest=1, flexible_from=0)
class ListTransactionsRequest(Message):
    state_filters: list[str]
    producer_id_filters: list[Int64]
    duration_filter: Int64 = field(since=1, default=-1)


class TransactionState(Struct):
    transactional_id: str
    producer_id: Int64
    transaction_state: str


@message(key=66, newest=1, flexible_from=0)
class ListTransactionsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]
