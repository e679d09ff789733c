"""Whatever is asked, in whatever order, the embedded store answers as the one in memory does."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store.embedded import EmbeddedStore, EmbeddedTree
from ottla.store.port import (
    Check,
    Create,
    Delete,
    Entry,
    MetadataStore,
    Operation,
    StoreError,
    Write,
)
from tests.simulation.seeds import repetitions

T = TypeVar("T")

# Few names, so that they meet; a prefix of another, and one that sorts before the slash.
PATHS = ["/", "/a", "/a!", "/ab", "/a/b", "/a/b/c", "/a/n", "/a/n0000000001", "/d/e", "bad"]
paths = st.sampled_from(PATHS)
data = st.binary(max_size=3)
versions = st.sampled_from([-1, -1, -1, 0, 1, 2])
flags = st.booleans()
operations: st.SearchStrategy[Operation] = st.one_of(
    st.builds(Create, paths, data, flags, flags),
    st.builds(Write, paths, data, versions),
    st.builds(Delete, paths, versions),
    st.builds(Check, paths, versions),
)
many = st.lists(operations, max_size=5)
sessions = st.integers(0, 1)


class StoresAgree(RuleBasedStateMachine):
    """Two sessions with each tree, and the same requests to both trees."""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._folder = tempfile.TemporaryDirectory()
        self._memory_tree = MemoryTree()
        self._memory: list[MemoryStore] = []
        self._embedded: list[EmbeddedStore] = []
        self._told: list[dict[str, None]] = [{}, {}]
        self._run(self._open())

    def teardown(self) -> None:
        self._run(self._embedded_tree.close())
        self._runner.close()
        self._folder.cleanup()

    @rule(session=sessions, operations=many)
    def do_many(self, session: int, operations: list[Operation]) -> None:
        self._compare(session, [("multi", (operations,), {})])

    @rule(session=sessions, path=paths, data=data, ephemeral=flags, sequential=flags, parents=flags)
    def create(self, session: int, path: str, data: bytes, **how: bool) -> None:
        self._compare(session, [("create", (path, data), how)])

    @rule(session=sessions, groups=st.lists(many, max_size=6))
    def do_at_once(self, session: int, groups: list[list[Operation]]) -> None:
        self._compare(session, [("multi", (operations,), {}) for operations in groups])

    @rule(session=sessions)
    def end_session(self, session: int) -> None:
        self._run(self._end(session))

    @rule()
    def reopen(self) -> None:
        self._run(self._reopen())

    @invariant()
    def both_hold_the_same(self) -> None:
        ours, theirs = self._run(self._contents())
        assert ours == theirs

    @invariant()
    def the_same_watches_were_called(self) -> None:
        ours, theirs = self._told
        assert sorted(ours) == sorted(theirs)
        ours.clear()
        theirs.clear()

    async def _open(self) -> None:
        self._embedded_tree = EmbeddedTree(f"{self._folder.name}/metadata.db")
        self._memory = [MemoryStore(self._memory_tree) for _ in range(2)]
        self._embedded = [EmbeddedStore(self._embedded_tree) for _ in range(2)]
        self._watch()

    async def _end(self, session: int) -> None:
        await self._memory[session].close()
        await self._embedded[session].close()
        self._memory[session] = MemoryStore(self._memory_tree)
        self._embedded[session] = EmbeddedStore(self._embedded_tree)
        if session == 0:
            self._watch()

    async def _reopen(self) -> None:
        for session in range(2):
            await self._memory[session].close()
            await self._embedded[session].close()
        await self._embedded_tree.close()
        await self._open()

    def _watch(self) -> None:
        """The first session of each tree watches every path."""
        watching: list[MetadataStore] = [self._memory[0], self._embedded[0]]
        for told, store in zip(self._told, watching, strict=True):
            for path in PATHS:
                store.watch(path, partial(told.setdefault, path))
                store.watch_children(path, partial(told.setdefault, f"children of {path}"))

    def _compare(self, session: int, requests: list[tuple[str, tuple[Any, ...], Any]]) -> None:
        async def ask(store: MetadataStore, owners: list[int]) -> list[object]:
            asked = [getattr(store, name)(*args, **how) for name, args, how in requests]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            return [_plain(answer, owners) for answer in answers]

        ours = self._run(ask(self._memory[session], [s.session_id for s in self._memory]))
        theirs = self._run(ask(self._embedded[session], [s.session_id for s in self._embedded]))
        assert ours == theirs

    async def _contents(self) -> tuple[list[object], list[object]]:
        ours = [s.session_id for s in self._memory]
        theirs = [s.session_id for s in self._embedded]
        return await _walk(self._memory[0], ours), await _walk(self._embedded[1], theirs)

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)


def _plain(answer: object, owners: list[int]) -> object:
    """An answer in which a session is the place it has among the tree's two."""
    match answer:
        case StoreError():
            return str(answer)
        case BaseException():
            raise answer
        case list():
            return [_plain(each, owners) for each in answer]
        case Entry(owner=owner) if owner:
            return replace(answer, owner=-1 - owners.index(owner))
    return answer


async def _walk(store: MetadataStore, owners: list[int], path: str = "/") -> list[object]:
    found = [_plain(await store.read(path), owners)]
    for name in await store.children(path):
        found += await _walk(store, owners, f"{path.rstrip('/')}/{name}")
    return found


TestStoresAgree = StoresAgree.TestCase
TestStoresAgree.settings = settings(
    max_examples=repetitions(20, soak=1_000), stateful_step_count=20
)
