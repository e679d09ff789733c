"""Producer ids come in blocks that no two brokers share."""

from __future__ import annotations

import asyncio

import pytest

from ottla.controller.producer_ids import ProducerIds, allocate_block
from ottla.controller.registration import create_roots
from ottla.protocol.errors import KafkaError
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store.paths import LATEST_PRODUCER_ID_BLOCK
from ottla.store.znodes import ProducerIdBlock


def test_blocks_follow_one_another_in_kafkas_bytes() -> None:
    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        await create_roots(store)
        assert await allocate_block(store, broker_id=0) == range(1000)
        assert await allocate_block(store, broker_id=1) == range(1000, 2000)
        entry = await store.read(LATEST_PRODUCER_ID_BLOCK)
        assert entry is not None
        assert entry.version == 2
        assert entry.data == (b'{"version":1,"broker":1,"block_start":"1000","block_end":"1999"}')

    asyncio.run(scenario())


def test_brokers_that_ask_at_once_get_different_blocks() -> None:
    async def scenario() -> None:
        tree = MemoryTree()
        stores = [MemoryStore(tree) for _ in range(5)]
        blocks = await asyncio.gather(*(allocate_block(s, broker_id=0) for s in stores))
        assert sorted(block.start for block in blocks) == [0, 1000, 2000, 3000, 4000]

    asyncio.run(scenario())


def test_ids_run_on_into_the_next_block_without_waiting() -> None:
    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        ids = ProducerIds(store, broker_id=0)
        async with asyncio.TaskGroup() as group:
            fetching = group.create_task(ids.run())
            assert ids.take() is None
            taken = [await ids.next() for _ in range(950)]
            for _ in range(5):
                await asyncio.sleep(0)  # its turns for the fetch ahead
            taken += [ids.take() or 0 for _ in range(100)]
            fetching.cancel()
        assert taken[:1000] == list(range(1000))
        assert len(set(taken)) == 1050

    asyncio.run(scenario())


def test_a_store_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.controller.producer_ids.RETRY_BACKOFF_SECONDS", 0)

    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        ids = ProducerIds(store, broker_id=0)
        store.cut_off()
        async with asyncio.TaskGroup() as group:
            fetching = group.create_task(ids.run())
            waiting = group.create_task(ids.next())
            await asyncio.sleep(0)
            store.reconnect()
            assert await waiting == 0
            fetching.cancel()

    asyncio.run(scenario())


def test_ids_end_with_the_numbers() -> None:
    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        last = ProducerIdBlock(broker_id=0, first=2**63 - 1000, last=2**63 - 1)
        await store.create(LATEST_PRODUCER_ID_BLOCK, last.encode())
        with pytest.raises(KafkaError, match="used up"):
            await allocate_block(store, broker_id=0)

    asyncio.run(scenario())


def test_ids_that_are_used_up_stop_nobody_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ottla.controller.producer_ids.RETRY_BACKOFF_SECONDS", 0)

    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        await create_roots(store)
        last = ProducerIdBlock(broker_id=0, first=2**63 - 1000, last=2**63 - 1)
        await store.write(LATEST_PRODUCER_ID_BLOCK, last.encode())
        ids = ProducerIds(store, broker_id=0)
        async with asyncio.TaskGroup() as group:
            fetching = group.create_task(ids.run())
            assert ids.take() is None
            for _ in range(5):
                await asyncio.sleep(0)  # its turns for some fetches
            assert "used up" in caplog.text
            # An operator repairs what somebody has written there.
            await store.write(LATEST_PRODUCER_ID_BLOCK, b"")
            assert await ids.next() == 0
            fetching.cancel()

    asyncio.run(scenario())
