"""DescribeTransactions (65): the state of transactional ids."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, message


@message(key=65, newest=0, flexible_from=0)
class DescribeTransactionsRequest(Message):
    transactional_ids: list[str]


class TopicData(Struct):
    topic: str
    partitions: list[Int32]


class TransactionState(Struct):
    error_code: Int16 = 0
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: Int32
    transaction_start_time_ms: Int64
    producer_id: Int64
    producer_epoch: Int16
    topics: list[TopicData]


@message(key=65, newest=0, flexible_from=0)
class DescribeTransactionsResponse(Message):
    throttle_time_ms: Int32 = 0
    transaction_states: list[TransactionState]
