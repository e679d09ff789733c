"""ListTransactions: the transactional ids that this broker coordinates, all or some."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from ottla.protocol.errors import KafkaError


def handle_list_transactions(
    request: ListTransactionsRequest, call: Call
) -> ListTransactionsResponse:
    error, unknown_states, transactions = call.services.transactions.list_transactions(
        request.state_filters, request.producer_id_filters, min_duration_ms=request.duration_filter
    )
    return ListTransactionsResponse(
        error_code=error,
        unknown_state_filters=list(unknown_states),
        transaction_states=[
            TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state,
            )
            for each in transactions
        ],
    )


def refuse(request: ListTransactionsRequest, error: KafkaError) -> ListTransactionsResponse:
    return ListTransactionsResponse(
        error_code=error.code, unknown_state_filters=[], transaction_states=[]
    )
