"""What DescribeTransactions and ListTransactions tell of a transactional id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.coordinators.transactions.requests import (
    DescribedTransaction,
    ListedTransaction,
    ListedTransactions,
)
from ottla.coordinators.transactions.state import BY_NAME
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.errors import ErrorCode


def describe(transaction: Transaction | None) -> DescribedTransaction:
    if transaction is None:
        return DescribedTransaction(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    return DescribedTransaction(
        ErrorCode.NONE,
        transaction.state.wire_name,
        transaction.timeout_ms,
        transaction.started_ms,
        transaction.producer_id,
        transaction.epoch,
        tuple(transaction.partitions),
    )


def listed(
    transactions: Iterable[Transaction],
    *,
    states: Sequence[str],
    producer_ids: Sequence[int],
    started_before_ms: int | None,
) -> ListedTransactions:
    unknown = tuple(name for name in dict.fromkeys(states) if name not in BY_NAME)
    wanted = frozenset(BY_NAME[name] for name in states if name in BY_NAME)
    found = tuple(
        ListedTransaction(each.id, each.producer_id, each.state.wire_name)
        for each in transactions
        if (not states or each.state in wanted)
        and (not producer_ids or each.producer_id in producer_ids)
        and (started_before_ms is None or each.started_ms < started_before_ms)
    )
    return ListedTransactions(ErrorCode.NONE, unknown, found)
