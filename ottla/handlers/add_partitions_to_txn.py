"""AddPartitionsToTxn: partitions join a transaction, all that are named or none.

Clients name one transaction. Brokers name several since version 4, and may only ask whether the
partitions are in it, before they take records (KIP-890).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ottla.coordinators.transactions.requests import TopicPartition
from ottla.handlers.call import Call
from ottla.handlers.fencing import fenced_error
from ottla.protocol.apis.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import INTERNAL_TOPICS

_MANY_FROM = 4
_FENCED_FROM = 2
Errors = Mapping[TopicPartition, ErrorCode]


def handle_add_partitions_to_txn(
    request: AddPartitionsToTxnRequest, call: Call
) -> AddPartitionsToTxnResponse | None:
    transactions = _transactions(request, call.version)
    if not transactions:
        return AddPartitionsToTxnResponse()
    answers = _Answers(call, transactions)
    for number, transaction in enumerate(transactions):
        _ask(call, transaction, partial(answers.put, number))
    return None


def _transactions(
    request: AddPartitionsToTxnRequest, version: int
) -> list[AddPartitionsToTxnTransaction]:
    if version >= _MANY_FROM:
        return request.transactions
    return [
        AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
    ]


class _Answers:
    """One for each transaction; they go out together when the last is there."""

    def __init__(self, call: Call, transactions: Sequence[AddPartitionsToTxnTransaction]) -> None:
        self._call = call
        self._transactions = transactions
        self._found: dict[int, Errors] = {}

    def put(self, number: int, errors: Errors) -> None:
        self._found[number] = errors
        if len(self._found) == len(self._transactions):
            results = [
                _result(transaction, self._found[number])
                for number, transaction in enumerate(self._transactions)
            ]
            self._call.reply(_response(results, self._call.version))


def _ask(
    call: Call, transaction: AddPartitionsToTxnTransaction, to: Callable[[Errors], None]
) -> None:
    partitions = _named(transaction)
    errors = {each: _refusal(call, each) for each in partitions}
    if any(errors.values()):
        to({each: error or ErrorCode.OPERATION_NOT_ATTEMPTED for each, error in errors.items()})
    elif transaction.verify_only:
        to(
            call.services.transactions.verify_partitions(
                transaction.transactional_id,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
                partitions=partitions,
            )
        )
    else:
        call.services.transactions.add_partitions(
            transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            partitions=partitions,
            to=lambda error: to(dict.fromkeys(partitions, _told(call, error))),
        )


def _named(transaction: AddPartitionsToTxnTransaction) -> list[TopicPartition]:
    return [(topic.name, index) for topic in transaction.topics for index in topic.partitions]


def _refusal(call: Call, at: TopicPartition) -> ErrorCode:
    if at[0] in INTERNAL_TOPICS and call.version < _MANY_FROM:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED  # no client may write there
    if not call.services.metadata.exists(*at):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _told(call: Call, error: ErrorCode) -> ErrorCode:
    return fenced_error(error, version=call.version, known_from=_FENCED_FROM)


def _result(transaction: AddPartitionsToTxnTransaction, errors: Errors) -> AddPartitionsToTxnResult:
    return AddPartitionsToTxnResult(
        transactional_id=transaction.transactional_id,
        topic_results=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(
                        partition_index=index, partition_error_code=errors[topic.name, index]
                    )
                    for index in topic.partitions
                ],
            )
            for topic in transaction.topics
        ],
    )


def _response(results: list[AddPartitionsToTxnResult], version: int) -> AddPartitionsToTxnResponse:
    if version >= _MANY_FROM:
        return AddPartitionsToTxnResponse(results_by_transaction=results)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)


def refuse(request: AddPartitionsToTxnRequest, error: KafkaError) -> AddPartitionsToTxnResponse:
    if request.transactions:
        return AddPartitionsToTxnResponse(error_code=error.code)
    [transaction] = _transactions(request, 0)
    result = _result(transaction, dict.fromkeys(_named(transaction), error.code))
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=result.topic_results)
