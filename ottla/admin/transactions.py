"""Transactional ids as their coordinators know them: listed from all brokers, described."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from ottla.admin.cluster import Cluster, TopicPartition, together
from ottla.admin.coordinator import Coordinated, ask_coordinator, ask_patiently, find_coordinator
from ottla.admin.refusals import refusal
from ottla.admin.transaction_verdicts import KnownTransaction
from ottla.network.client import UnsupportedVersion
from ottla.protocol.apis.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ottla.protocol.apis.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.errors import ErrorCode, KafkaError

_SUGGESTIONS = 3
_MOST_AT_ONCE = 1_000


class UnknownTransaction(KafkaError):
    """There is no such transactional id; the message names those that are spelled much like it."""

    def __init__(self, name: str, existing: Sequence[str]) -> None:
        near = get_close_matches(name, existing, n=_SUGGESTIONS)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        detail = f"there is no transactional id {name!r}.{hint}"
        super().__init__(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, detail)


async def list_transactions(
    cluster: Cluster, *, states: Sequence[str] = (), producer_ids: Sequence[int] = ()
) -> list[KnownTransaction]:
    """Of all brokers, by id; only in one of these states and of these producers, if any are given.

    A broker that cannot tell yet is waited for: without it, what it coordinates would seem gone.
    """
    request = ListTransactionsRequest(
        state_filters=list(states), producer_id_filters=list(producer_ids)
    )
    brokers = await cluster.broker_ids()
    answers = await together(_known_at(cluster, broker, request) for broker in brokers)
    found = [each for answer in answers for each in answer]
    # Some have gone on since they were listed.
    wanted = [each for each in found if not states or each.state in states]
    return sorted(wanted, key=lambda each: each.transactional_id)


async def describe(cluster: Cluster, transactional_id: str) -> KnownTransaction:
    answer = await ask_coordinator(
        cluster,
        transactional_id,
        DescribeTransactionsRequest(transactional_ids=[transactional_id]),
        DescribeTransactionsResponse,
        lambda given: [each.error_code for each in given.transaction_states],
        kind=Coordinated.TRANSACTION,
    )
    (told,) = answer.transaction_states
    if told.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        existing = [each.transactional_id for each in await list_transactions(cluster)]
        raise UnknownTransaction(transactional_id, existing)
    if told.error_code != ErrorCode.NONE:
        raise refusal(told.error_code)
    coordinator = await find_coordinator(cluster, transactional_id, kind=Coordinated.TRANSACTION)
    return _known(told, coordinator)


async def _known_at(
    cluster: Cluster, broker: int, request: ListTransactionsRequest
) -> list[KnownTransaction]:
    """Listed and described, both anew if it coordinates some of them no more."""

    async def ask() -> tuple[ListTransactionsResponse, list[TransactionState]]:
        listed = await cluster.ask_broker(broker, request, ListTransactionsResponse)
        ids = [each.transactional_id for each in listed.transaction_states]
        return listed, await _described_at(cluster, broker, ids)

    try:
        listed, described = await ask_patiently(cluster, ask, _codes)
    except UnsupportedVersion as cause:
        detail = f"{cause.detail}: it tells nothing of transactions, as Kafka does since 3.0"
        raise UnsupportedVersion(detail) from cause
    if listed.error_code != ErrorCode.NONE:
        raise refusal(listed.error_code)
    if listed.unknown_state_filters:
        unknown = " and ".join(listed.unknown_state_filters)
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"broker {broker} has no state {unknown}.")
    return [_known(each, broker) for each in described if each.error_code == ErrorCode.NONE]


async def _described_at(
    cluster: Cluster, broker: int, ids: Sequence[str]
) -> list[TransactionState]:
    described: list[TransactionState] = []
    for first in range(0, len(ids), _MOST_AT_ONCE):
        some = ids[first : first + _MOST_AT_ONCE]
        request = DescribeTransactionsRequest(transactional_ids=list(some))
        answer = await cluster.ask_broker(broker, request, DescribeTransactionsResponse)
        described += answer.transaction_states
    return described


def _codes(given: tuple[ListTransactionsResponse, list[TransactionState]]) -> Iterator[int]:
    listed, described = given
    yield listed.error_code
    yield from (each.error_code for each in described)


def _known(told: TransactionState, coordinator: int) -> KnownTransaction:
    partitions = [
        TopicPartition(topic.topic, index) for topic in told.topics for index in topic.partitions
    ]
    return KnownTransaction(
        transactional_id=told.transactional_id,
        coordinator=coordinator,
        state=told.transaction_state,
        producer_id=told.producer_id,
        producer_epoch=told.producer_epoch,
        timeout_ms=told.transaction_timeout_ms,
        started_ms=None if told.transaction_start_time_ms < 0 else told.transaction_start_time_ms,
        partitions=tuple(sorted(partitions)),
    )
