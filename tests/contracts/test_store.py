"""What every metadata store does, the embedded one and the one in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from ottla.store.port import (
    BadPath,
    BadVersion,
    Check,
    Create,
    Delete,
    EphemeralParent,
    NodeError,
    NodeExists,
    NoNode,
    NotEmpty,
    Operation,
    SessionLost,
    Write,
)
from tests.contracts.stores import Open, Told, contract, existing, refusal


@contract
async def test_what_was_created_is_read(open_session: Open) -> None:
    store, other = await open_session(), await open_session()
    created = await store.create("/a", b"\x00\xff")
    assert (created.path, created.data, created.version) == ("/a", b"\x00\xff", 0)
    assert created.czxid == created.mzxid > 0
    assert created.owner == 0
    assert await other.read("/a") == created
    assert await other.read("/b") is None


@contract
async def test_the_root_is_there(open_session: Open) -> None:
    store = await open_session()
    assert (await existing(store, "/")).data == b""
    before = await store.children("/")
    await store.create("/a")
    assert await store.children("/") == sorted([*before, "a"])
    assert await refusal(store.create("/")) is NodeExists
    assert await refusal(store.delete("/")) is BadPath


@contract
async def test_children_are_sorted_names(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a")
    for name in ("b", "B", "é", "a-b", "a", "\uf900", "10", "9"):
        await store.create(f"/a/{name}")
    await store.create("/a/b/below")
    await store.create("/a-neighbour")
    names = await store.children("/a")
    assert names == ["10", "9", "B", "a", "a-b", "b", "é", "\uf900"]
    assert await store.children("/a/B") == []


@contract
async def test_a_write_counts_the_version(open_session: Open) -> None:
    store = await open_session()
    created = await store.create("/a", b"0")
    first = await store.write("/a", b"1")
    second = await store.write("/a", b"2", expect_version=1)
    assert (first.version, second.version, second.data) == (1, 2, b"2")
    assert created.czxid == first.czxid == second.czxid
    assert created.mzxid < first.mzxid < second.mzxid
    assert await store.read("/a") == second


@contract
async def test_what_was_deleted_begins_anew(open_session: Open) -> None:
    store = await open_session()
    first = await store.create("/a")
    await store.write("/a", b"1")
    await store.delete("/a", expect_version=1)
    assert await store.read("/a") is None
    again = await store.create("/a")
    assert again.version == 0
    assert again.czxid > first.czxid


@contract
async def test_what_is_not_there_is_refused(open_session: Open) -> None:
    store = await open_session()
    with pytest.raises(NoNode, match="/a: there is no such node"):
        await store.write("/a", b"")
    assert await refusal(store.delete("/a")) is NoNode
    assert await refusal(store.delete("/a", expect_version=3)) is NoNode
    assert await refusal(store.children("/a")) is NoNode
    assert await refusal(store.create("/a/b")) is NoNode
    assert await refusal(store.multi([Check("/a", 0)])) is NoNode


@contract
async def test_a_refusal_names_the_node_that_is_in_the_way(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a")
    for asked, path in (
        (store.create("/a"), "/a"),
        (store.create("/none/b"), "/none"),
        (store.multi([Check("/a", 0), Delete("/b")]), "/b"),
    ):
        with pytest.raises(NodeError) as caught:
            await asked
        assert caught.value.path == path


@contract
async def test_another_version_than_expected_is_refused(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a", b"0")
    before = await store.write("/a", b"1")
    for version in (0, 2):
        assert await refusal(store.write("/a", b"", expect_version=version)) is BadVersion
        assert await refusal(store.delete("/a", expect_version=version)) is BadVersion
        assert await refusal(store.multi([Check("/a", version)])) is BadVersion
    assert await store.read("/a") == before


@contract
async def test_only_an_empty_node_is_deleted(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a/b", parents=True)
    assert await refusal(store.delete("/a")) is NotEmpty
    await store.delete("/a/b")
    await store.delete("/a")


@contract
async def test_an_ephemeral_node_has_no_children(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a", ephemeral=True)
    assert await refusal(store.create("/a/b")) is EphemeralParent
    assert await refusal(store.create("/a/b", ephemeral=True)) is EphemeralParent
    assert await refusal(store.create("/a/b/c", parents=True)) is EphemeralParent
    assert await refusal(store.multi([Create("/a/b", b"")])) is EphemeralParent


@contract
async def test_a_path_that_no_node_has_is_refused(open_session: Open) -> None:
    store = await open_session()
    for path in (
        "",
        "a",
        "/a/",
        "//",
        "/a//b",
        "/.",
        "/a/../b",
        "/a\x00",
        "/\ud800",
        "/\ufffd",
        "/\U0001f600",
    ):
        assert await refusal(store.read(path)) is BadPath
        assert await refusal(store.children(path)) is BadPath
        assert await refusal(store.create(path, parents=True)) is BadPath
        assert await refusal(store.write(path, b"")) is BadPath
        assert await refusal(store.delete(path)) is BadPath
    await store.create("/...")


@contract
async def test_missing_parents_are_made(open_session: Open) -> None:
    store = await open_session()
    top = await store.create("/a", b"kept")
    made = await store.create("/a/b/c", b"data", parents=True)
    assert made.data == b"data"
    assert (await existing(store, "/a/b")).data == b""
    assert await store.read("/a") == top
    assert await refusal(store.create("/a/b/c", parents=True)) is NodeExists
    await store.create("/a/b/d", ephemeral=True, parents=True)
    assert (await existing(store, "/a/b")).owner == 0


@contract
async def test_sequential_nodes_are_numbered_by_their_parent(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a")
    first = await store.create("/a/change_", b"1", sequential=True)
    second = await store.create("/a/other_", sequential=True, ephemeral=True)
    assert (first.path, second.path) == ("/a/change_0000000000", "/a/other_0000000001")
    assert await store.read(first.path) == first
    assert second.owner == store.session_id


@contract
async def test_a_number_is_never_given_again(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a")
    for number in range(3):
        made = await store.create("/a/n", sequential=True)
        assert made.path == f"/a/n{number:010}"
        await store.delete(made.path)
    await store.create("/a/plain")  # counts, as any child does
    [entry] = await store.multi([Create("/a/n", b"", sequential=True)])
    assert entry is not None
    assert entry.path == "/a/n0000000004"


@contract
async def test_ephemeral_nodes_go_with_their_session(open_session: Open) -> None:
    store, other = await open_session(), await open_session()
    assert store.session_id != other.session_id
    await other.create("/ids")
    mine = await store.create("/ids/1", ephemeral=True)
    await other.create("/ids/2", ephemeral=True)
    await store.create("/ids/3")
    assert mine.owner == store.session_id
    await store.close()
    await store.close()
    assert await other.children("/ids") == ["2", "3"]


@contract
async def test_after_its_end_a_session_does_nothing(open_session: Open) -> None:
    store, other = await open_session(), await open_session()
    await store.create("/a")
    await store.close()
    asked: list[Awaitable[object]] = [
        store.read("/a"),
        store.children("/"),
        store.create("/b", ephemeral=True),
        store.write("/a", b""),
        store.delete("/a"),
        store.multi([Create("/b", b"")]),
    ]
    for each in asked:
        with pytest.raises(SessionLost, match="has ended"):
            await each
    assert (await existing(other, "/a")).version == 0
    assert await other.read("/b") is None


@contract
async def test_a_broker_that_registers_again_has_a_greater_epoch(open_session: Open) -> None:
    observer, epochs = await open_session(), [0]
    await observer.create("/ids")
    for _ in range(3):
        broker = await open_session()
        epochs.append((await broker.create("/ids/1", ephemeral=True)).czxid)
        await broker.close()
    assert epochs == sorted({*epochs})


@contract
async def test_of_many_operations_each_sees_those_before(open_session: Open) -> None:
    store = await open_session()
    made = await store.multi(
        [
            Create("/a", b"0"),
            Create("/a/b", b""),
            Write("/a", b"1", 0),
            Check("/a", 1),
            Delete("/a/b"),
            Create("/e", b"", ephemeral=True),
            Create("/a/s", b"", sequential=True),
        ]
    )
    entries = [entry and (entry.path, entry.data, entry.version) for entry in made]
    sequential = ("/a/s0000000001", b"", 0)
    assert entries == [
        ("/a", b"0", 0),
        ("/a/b", b"", 0),
        ("/a", b"1", 1),
        None,
        None,
        ("/e", b"", 0),
        sequential,
    ]
    assert await store.children("/a") == ["s0000000001"]
    assert (await existing(store, "/e")).owner == store.session_id


@contract
async def test_nothing_at_all_is_done_too(open_session: Open) -> None:
    store = await open_session()
    assert await store.multi([]) == []


@contract
async def test_a_failure_in_the_middle_undoes_the_rest(open_session: Open) -> None:
    store = await open_session()
    await store.create("/a", b"before")
    await store.create("/gone", b"still here")
    told = Told()
    for path in ("/a", "/gone", "/new"):
        store.watch(path, told)
    good: list[Operation] = [
        Write("/a", b"after"),
        Delete("/gone"),
        Create("/new", b""),
        Create("/a/n", b"", sequential=True),
        Create("/mine", b"", ephemeral=True),
    ]
    before = [await store.read(path) for path in ("/a", "/gone")]
    for place in range(len(good) + 1):
        assert (
            await refusal(store.multi([*good[:place], Check("/none", 0), *good[place:]])) is NoNode
        )
    assert [await store.read(path) for path in ("/a", "/gone")] == before
    assert {"new", "mine"} & {*await store.children("/")} == set()
    assert told.count == 0
    assert (await store.create("/a/n", sequential=True)).path == "/a/n0000000000"


@contract
async def test_of_rival_writes_one_wins(open_session: Open) -> None:
    stores = [await open_session() for _ in range(3)]
    await stores[0].create("/controller_epoch", b"0")
    for version in range(5):
        asked = [s.write("/controller_epoch", b"", expect_version=version) for s in stores * 4]
        refused = await asyncio.gather(*map(refusal, asked))
        assert sorted(map(str, refused)) == sorted(map(str, [None] + [BadVersion] * 11))
    assert (await existing(stores[0], "/controller_epoch")).version == 5


@contract
async def test_of_rival_candidates_one_is_elected(open_session: Open) -> None:
    stores = [await open_session() for _ in range(5)]
    asked = [store.create("/controller", ephemeral=True) for store in stores]
    refused = await asyncio.gather(*map(refusal, asked))
    assert refused.count(None) == 1
    assert refused.count(NodeExists) == 4
    winner = stores[refused.index(None)]
    assert (await existing(stores[0], "/controller")).owner == winner.session_id


@contract
async def test_what_is_asked_at_once_fails_or_succeeds_alone(open_session: Open) -> None:
    store = await open_session()
    asked: list[Awaitable[object]] = [
        store.create("/a"),
        store.create("/a"),
        store.multi([Create("/b", b""), Create("/a", b"")]),
        store.create("/a/c"),
        store.delete("/a"),
        store.write("/a", b"1"),
    ]
    refused = await asyncio.gather(*map(refusal, asked))
    assert refused == [None, NodeExists, NodeExists, None, NotEmpty, None]
    assert await store.children("/a") == ["c"]
    assert await store.read("/b") is None
