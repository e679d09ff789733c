"""DescribeTransactions: the state of transactional ids, with the partitions they wrote to."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_describe_transactions(
    request: DescribeTransactionsRequest, call: Call
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_described(call, each) for each in request.transactional_ids]
    )


def _described(call: Call, transactional_id: str) -> TransactionState:
    found = call.services.transactions.describe(transactional_id)
    if found.error is not ErrorCode.NONE:
        return _unknown(transactional_id, found.error)
    topics: dict[str, list[int]] = {}
    for topic, index in found.partitions:
        topics.setdefault(topic, []).append(index)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=found.state,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.started_ms,
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        topics=[TopicData(topic=topic, partitions=each) for topic, each in topics.items()],
    )


def _unknown(transactional_id: str, error: ErrorCode) -> TransactionState:
    """With the zeros that Kafka leaves where nothing is known."""
    return TransactionState(
        error_code=error,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=0,
        producer_epoch=0,
        topics=[],
    )


def refuse(request: DescribeTransactionsRequest, error: KafkaError) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_unknown(each, error.code) for each in request.transactional_ids]
    )
