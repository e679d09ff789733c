"""What the HTTP port tells of transactions that are open in partitions led here."""

from __future__ import annotations

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
    connected: dict[str, None] = {}
    broker.server.on_each(lambda connection: connected.setdefault(connection.peer))
    now_ms = broker.ports.clock.now_ms()
    return json_answer(
        {
            "now_ms": now_ms,
            "partitions": [
                _partition(broker, each, connected, now_ms)
                for each in broker.open_transactions.unstable()
                if wanted is None or each.partition.topic == wanted
            ],
        }
    )


def _partition(
    broker: Broker, unstable: Unstable, connected: dict[str, None], now_ms: int
) -> dict[str, Any]:
    log = unstable.log
    return {
        "topic": unstable.partition.topic,
        "partition": unstable.partition.index,
        "log_start_offset": log.log_start_offset,
        "last_stable_offset": log.last_stable_offset,
        "high_watermark": log.high_watermark,
        "log_end_offset": log.next_offset,
        "transactions": [_opened(broker, each, connected, now_ms) for each in unstable.opened],
        "waiting": [
            {
                "client_id": connection.client_id,
                "client_address": connection.peer,
                "fetch_offset": fetch_offset,
            }
            for connection, fetch_offset in unstable.waiting
        ],
    }


def _opened(
    broker: Broker, opened: Opened, connected: dict[str, None], now_ms: int
) -> dict[str, Any]:
    producer = opened.producer
    client = broker.services.producer_clients.get(producer.producer_id)
    return {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        "coordinator_epoch": producer.coordinator_epoch,
        "start_offset": producer.transaction_start,
        "last_write_ms": producer.last_timestamp,
        "began_ms": opened.began_ms,
        "open_ms": None if opened.began_ms is None else max(0, now_ms - opened.began_ms),
        "client_id": client.client_id if client else None,
        "client_address": client.peer if client else None,
        "client_is_connected": client is not None and client.peer in connected,
    }
