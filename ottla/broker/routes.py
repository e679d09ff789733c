"""What the HTTP port on loopback answers: health, metrics, and what is going on inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.group_routes import group_routes
from ottla.broker.metering import gather
from ottla.broker.query import Query
from ottla.broker.quota_metrics import describe_quotas
from ottla.broker.transaction_routes import transaction_routes
from ottla.metrics import CONTENT_TYPE
from ottla.network.connection import Connection
from ottla.network.http import Answer, Route, json_answer

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


def get_routes(broker: Broker) -> dict[str, Route]:
    return {
        "/healthz": lambda query: _health(broker),
        "/metrics": lambda query: _metrics(broker, query),
        "/debug/timers": lambda query: json_answer(
            {
                "timer": broker.timer.describe(),
                "purgatories": [each.describe() for each in broker.services.purgatories()],
            }
        ),
        "/debug/quotas": lambda query: json_answer({"quotas": describe_quotas(broker)}),
        "/debug/connections": lambda query: json_answer({"connections": _connections(broker)}),
        **group_routes(broker),
        **transaction_routes(broker),
        **(broker.hooks.get_routes() if broker.hooks else {}),
    }


def post_routes(broker: Broker) -> dict[str, Route]:
    return broker.hooks.post_routes() if broker.hooks else {}


def _metrics(broker: Broker, parameters: dict[str, str]) -> Answer:
    """With `partitions=none` a page that stays short however many there are."""
    query = Query(parameters)
    query.nothing_but("partitions")
    with_partitions = query.one_of("partitions", {"all": True, "none": False}, True)
    if query.mistakes:
        return query.refusal()
    return 200, CONTENT_TYPE, gather(broker, with_partitions=with_partitions).pieces()


def _health(broker: Broker) -> Answer:
    offline = broker.directories.offline
    status, _, body = json_answer(
        {
            "status": "degraded" if offline else "ok",
            "broker_id": broker.id,
            "bootstrap": broker.addresses.bootstrap,
            "offline_log_dirs": offline,
        }
    )
    return (503 if offline else status), "application/json", body


def _connections(broker: Broker) -> list[dict[str, object]]:
    now_ms = broker.timer.now_ms()
    found: list[dict[str, object]] = []

    def describe(connection: Connection) -> None:
        name, version = connection.software
        found.append(
            {
                "id": connection.number,
                "peer": connection.peer,
                "listener": connection.listener,
                "client_id": connection.client_id,
                "client_software_name": name,
                "client_software_version": version,
                "requests": connection.requests,
                "bytes_in": connection.bytes_in,
                "bytes_out": connection.bytes_out,
                "parked": len(connection.waiting),
                "idle_ms": now_ms - connection.active_ms,
            }
        )

    broker.server.on_each(describe)
    return found
