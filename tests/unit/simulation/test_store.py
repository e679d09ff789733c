"""What the store in memory does beyond the port: it ends sessions and cuts off on request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store.port import SessionLost, StoreUnavailable

Test = Callable[[MemoryStore, MemoryStore], Awaitable[None]]


def with_two_stores(test: Test) -> Callable[[], None]:
    async def run() -> None:
        tree = MemoryTree()
        await test(MemoryStore(tree), MemoryStore(tree))

    def test_with_two_stores() -> None:
        asyncio.run(run())

    return test_with_two_stores


async def settle() -> None:
    """Whatever the loop was asked to call soon has been called."""
    await asyncio.sleep(0)


@with_two_stores
async def test_an_expired_session_leaves_no_ephemeral_node(
    store: MemoryStore, other: MemoryStore
) -> None:
    await store.create("/mine", ephemeral=True)
    before = store.session_id
    store.expire()
    assert store.session_id != before
    assert await other.read("/mine") is None
    again = await store.create("/mine", ephemeral=True)
    assert again.owner == store.session_id


@with_two_stores
async def test_who_asked_is_told_that_the_session_was_lost(
    store: MemoryStore, other: MemoryStore
) -> None:
    told: list[str] = []
    store.on_session_lost(lambda: told.append("lost"))
    store.watch("/a", lambda: told.append("watch"))
    other.on_session_lost(lambda: told.append("other"))
    store.expire()
    assert told == []
    await settle()
    assert sorted(told) == ["lost", "watch"]


@with_two_stores
async def test_what_was_asked_in_a_lost_session_is_not_done(
    store: MemoryStore, other: MemoryStore
) -> None:
    asked = asyncio.ensure_future(store.create("/mine", ephemeral=True))
    await settle()
    late = asyncio.ensure_future(store.create("/late", ephemeral=True))
    asyncio.get_running_loop().call_soon(store.expire)
    await settle()
    with pytest.raises(SessionLost, match="session 1 "):
        await late
    assert (await asked).owner == 1
    assert await other.children("/") == []


@with_two_stores
async def test_a_store_that_is_cut_off_reaches_nothing(
    store: MemoryStore, other: MemoryStore
) -> None:
    await store.create("/mine", ephemeral=True)
    told: list[str] = []
    store.watch("/a", lambda: told.append("a"))
    store.cut_off()
    with pytest.raises(StoreUnavailable):
        await store.read("/mine")
    await other.create("/a")
    await settle()
    assert told == []
    store.reconnect()
    await settle()
    assert told == ["a"]
    assert await store.children("/") == ["a", "mine"]


@with_two_stores
async def test_a_session_that_ended_meanwhile_is_noticed_when_reconnecting(
    store: MemoryStore, other: MemoryStore
) -> None:
    await store.create("/mine", ephemeral=True)
    told: list[str] = []
    store.on_session_lost(lambda: told.append("lost"))
    store.cut_off()
    store.expire()
    await settle()
    assert (told, store.session_id, await other.children("/")) == ([], 1, [])
    store.reconnect()
    await settle()
    assert (told, store.session_id) == (["lost"], 3)
