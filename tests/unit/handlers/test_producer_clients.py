"""Who wrote last as a producer is remembered, and the longest silent are forgotten."""

from __future__ import annotations

from ottla.handlers.producer_clients import ProducerClient, ProducerClients
from tests.unit.handlers.one_broker import one_broker
from tests.virtual_time import on_virtual_time


@on_virtual_time
async def test_the_last_client_of_each_producer_is_remembered() -> None:
    async with one_broker() as broker:
        connection, clients = broker.client.connection, ProducerClients(most=2)
        connection.client_id = "first"
        for producer_id in (1, 2, 1):
            clients.wrote(producer_id, connection)
        connection.client_id = "second"
        clients.wrote(3, connection)
        assert clients.get(1) == ProducerClient("first", "test:1")
        assert clients.get(2) is None  # 1 wrote after it
        assert clients.get(3) == ProducerClient("second", "test:1")


@on_virtual_time
async def test_of_an_endless_name_only_the_beginning_is_kept() -> None:
    async with one_broker() as broker:
        connection, clients = broker.client.connection, ProducerClients()
        connection.client_id = "x" * 32_767
        clients.wrote(1, connection)
        assert clients.get(1) == ProducerClient("x" * 200, "test:1")
