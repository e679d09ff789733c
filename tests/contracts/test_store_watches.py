"""Whom every metadata store tells of a change, and when."""

from __future__ import annotations

import asyncio

from ottla.store.port import Delete, Entry, Write
from tests.contracts.stores import Open, Told, contract, existing


@contract
async def test_a_watch_tells_of_every_change_to_a_node(open_session: Open) -> None:
    store, other = await open_session(), await open_session()
    told = Told()
    store.watch("/a", told)
    await other.create("/a")
    await told.again()
    await other.write("/a", b"1")
    await told.again()
    await store.multi([Write("/a", b"2")])
    await told.again()
    await other.delete("/a")
    await told.again()
    await store.create("/a", ephemeral=True)
    await told.again()
    await store.multi([Delete("/a")])
    await told.again()


@contract
async def test_a_watch_of_children_tells_who_comes_and_goes(open_session: Open) -> None:
    store, other = await open_session(), await open_session()
    told = Told()
    store.watch_children("/a", told)
    await other.create("/a")
    await told.again()
    await other.create("/a/n", sequential=True)
    await told.again()
    await other.delete("/a/n0000000000")
    await told.again()
    await other.create("/a/mine", ephemeral=True)
    await told.again()
    await other.close()
    await told.again()
    assert await store.children("/a") == []
    await store.delete("/a")
    await told.again()


@contract
async def test_a_watch_does_not_tell_of_others(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a/b", parents=True)
    of_data, of_children, cancelled, last = Told(), Told(), Told(), Told()
    store.watch("/a", of_data)
    store.watch_children("/a", of_children)
    store.watch("/a/b", cancelled).cancel()
    store.watch("/last", last)
    await store.create("/a/b/c")
    await store.write("/a/b", b"1")
    await store.create("/ab")
    await store.create("/last")
    await last.again()
    assert (of_data.count, of_children.count, cancelled.count) == (0, 0, 0)


@contract
async def test_a_cancelled_watch_is_silent_though_its_node_has_changed(open_session: Open) -> None:
    store = await open_session()
    cancelled, other, last = Told(), Told(), Told()
    watch = store.watch("/a", cancelled)
    store.watch("/a", other)
    store.watch("/last", last)
    await store.create("/a")
    watch.cancel()
    watch.cancel()
    await other.again()
    await store.create("/last")
    await last.again()
    assert cancelled.count == 0


@contract
async def test_who_makes_a_change_knows_before_those_who_watch(open_session: Open) -> None:
    store = await open_session()
    happened: list[str] = []
    told = Told()
    store.watch("/a", lambda: happened.append("watched"))
    store.watch("/a", told)
    await store.create("/a")
    happened.append("created")
    await told.again()
    assert happened == ["created", "watched"]


@contract
async def test_the_last_of_many_changes_is_never_missed(open_session: Open) -> None:
    store, other = await open_session(), await open_session()
    await other.create("/a", b"0")
    told = Told()
    store.watch("/a", told)
    seen = [(await existing(store, "/a")).version]

    async def follow() -> None:
        while seen[-1] < 200:
            await told.again()
            seen.append((await existing(store, "/a")).version)

    async def change() -> None:
        for number in range(10):
            await asyncio.gather(*(other.write("/a", b"%d" % number) for _ in range(20)))

    await asyncio.gather(follow(), change())
    assert seen == sorted(seen)
    assert told.count <= 200


@contract
async def test_who_is_told_may_ask_at_once(open_session: Open) -> None:
    store = await open_session()
    answers: list[asyncio.Future[Entry]] = []

    def answer() -> None:
        answers.append(asyncio.ensure_future(store.create("/answer/n", sequential=True)))
        watch.cancel()

    await store.create("/answer")
    watch = store.watch("/question", answer)
    told = Told()
    store.watch_children("/answer", told)
    await store.create("/question")
    await told.again()
    assert [(await made).path for made in answers] == ["/answer/n0000000000"]
