"""How a broker joins: roots, cluster id, broker id, registration."""

from __future__ import annotations

import asyncio

import pytest

from ottla.controller.registration import (
    BrokerIdTaken,
    Registration,
    cluster_id,
    create_roots,
    generate_broker_id,
)
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store import paths
from tests.unit.controller.cluster import described


def test_the_cluster_id_is_drawn_once() -> None:
    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        first = await cluster_id(store, lambda size: b"\xfb" * size)
        assert first == "-_v7-_v7-_v7-_v7-_v7-w"
        assert await cluster_id(store, bytes) == first
        entry = await store.read(paths.CLUSTER_ID)
        assert entry is not None
        assert entry.data == b'{"version":"1","id":"-_v7-_v7-_v7-_v7-_v7-w"}'

    asyncio.run(scenario())


def test_generated_broker_ids_follow_the_reserved_ones() -> None:
    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        await create_roots(store)
        assert await generate_broker_id(store, reserved_max=1000) == 1001
        assert await generate_broker_id(store, reserved_max=1000) == 1002

    asyncio.run(scenario())


def test_the_epoch_is_the_change_that_registered_the_broker() -> None:
    async def scenario() -> None:
        tree = MemoryTree()
        store = MemoryStore(tree)
        await create_roots(store)
        registration = Registration(store, 0, lambda: described(0))
        epoch = await registration.register()
        entry = await store.read(paths.broker(0))
        assert entry is not None
        assert entry.data == (
            b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
            b'"endpoints":["PLAINTEXT://127.0.0.1:49192"],"jmx_port":-1,"port":49192,'
            b'"host":"127.0.0.1","version":5,"timestamp":"1700000000000"}'
        )
        assert epoch == registration.epoch == entry.czxid
        assert await registration.register() == epoch
        store.expire()
        assert await registration.register() > epoch

    asyncio.run(scenario())


def test_an_id_belongs_to_one_session() -> None:
    async def scenario() -> None:
        tree = MemoryTree()
        first, second = MemoryStore(tree), MemoryStore(tree)
        await create_roots(first)
        await Registration(first, 0, lambda: described(0)).register()
        rival = Registration(second, 0, lambda: described(0))
        with pytest.raises(BrokerIdTaken, match=r"broker id 0 is in use.*set another broker\.id"):
            await rival.register()
        await first.close()
        assert await rival.register() > 0

    asyncio.run(scenario())
