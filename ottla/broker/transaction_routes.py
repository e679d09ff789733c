"""What the HTTP port tells of transactions that are open in partitions led here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ottla.broker.open_transactions import Opened, Unstable
from ottla.broker.query import Query
from ottla.network.http import Answer, Route, json_answer

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


def transaction_routes(broker: Broker) -> dict[str, Route]:
    return {"/debug/transactions": lambda query: _transactions(broker, query)}


def _transactions(broker: Broker, parameters: dict[str, str]) -> Answer:
    query = Query(parameters)
    query.nothing_but("topic")
    if query.mistakes:
        return query.refusal()
    wanted = parameters.get("topic")
    unstable = [
        each
        for each in broker.open_transactions.unstable()
        if wanted is None or each.partition.topic == wanted
    ]
    now_ms = broker.ports.clock.now_ms()
    about = _Writers(broker, unstable)
    return json_answer(
        {"now_ms": now_ms, "partitions": [_partition(each, about, now_ms) for each in unstable]}
    )


class _Writers:
    """Who the producers are, as far as this broker was told or coordinates them."""

    def __init__(self, broker: Broker, unstable: Sequence[Unstable]) -> None:
        self._clients = broker.services.producer_clients
        self._connected: dict[str, None] = {}
        broker.server.on_each(lambda connection: self._connected.setdefault(connection.peer))
        ids = [opened.producer.producer_id for each in unstable for opened in each.opened]
        listed = broker.transactions.list_transactions(producer_ids=ids).transactions if ids else ()
        self._transactions = {each.producer_id: each for each in listed}

    def describe(self, producer_id: int) -> dict[str, Any]:
        client = self._clients.get(producer_id)
        known = self._transactions.get(producer_id)
        return {
            "transactional_id": known.transactional_id if known else None,
            "state": known.state if known else None,
            "client_id": client.client_id if client else None,
            "client_address": client.peer if client else None,
            "client_is_connected": client is not None and client.peer in self._connected,
        }


def _partition(unstable: Unstable, about: _Writers, now_ms: int) -> dict[str, Any]:
    log = unstable.log
    return {
        "topic": unstable.partition.topic,
        "partition": unstable.partition.index,
        "log_start_offset": log.log_start_offset,
        "last_stable_offset": log.last_stable_offset,
        "high_watermark": log.high_watermark,
        "log_end_offset": log.next_offset,
        "transactions": [_opened(each, about, now_ms) for each in unstable.opened],
        "waiting": [
            {
                "client_id": connection.client_id,
                "client_address": connection.peer,
                "fetch_offset": fetch_offset,
            }
            for connection, fetch_offset in unstable.waiting
        ],
    }


def _opened(opened: Opened, about: _Writers, now_ms: int) -> dict[str, Any]:
    producer = opened.producer
    return {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        "coordinator_epoch": producer.coordinator_epoch,
        "start_offset": producer.transaction_start,
        "last_write_ms": producer.last_timestamp,
        "began_ms": opened.began_ms,
        "open_ms": None if opened.began_ms is None else max(0, now_ms - opened.began_ms),
        **about.describe(producer.producer_id),
    }
