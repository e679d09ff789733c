"""A metadata store in memory: one tree, and a store for each broker that shares it.

It does nothing by chance, and lets a test end a session when it likes.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ottla.store.port import (
    ANY_VERSION,
    Create,
    Delete,
    Entry,
    Operation,
    SessionLost,
    StoreError,
    StoreUnavailable,
    Write,
)
from ottla.store.tree import ROOT, Change, Changed, check_path, children, missing_parents, parent_of
from ottla.store.watches import LocalWatch, Watches


@dataclass(slots=True)
class _Node:
    entry: Entry
    names: list[str] = field(default_factory=list)  # sorted
    created_below: int = 0


class _MemoryNodes:
    """The nodes, and how to go back to where the change under way began."""

    def __init__(self) -> None:
        self._nodes = {"/": _Node(ROOT)}
        self._undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        self._undo.clear()

    def roll_back(self) -> None:
        while self._undo:
            self._undo.pop()()

    def find(self, path: str) -> Entry | None:
        node = self._nodes.get(path)
        return None if node is None else node.entry

    def names(self, path: str) -> list[str]:
        return self._nodes[path].names.copy()

    def has_children(self, path: str) -> bool:
        return bool(self._nodes[path].names)

    def created_below(self, path: str) -> int:
        return self._nodes[path].created_below

    def add(self, entry: Entry) -> None:
        self._link(_Node(entry))
        parent = self._nodes[parent_of(entry.path)]
        parent.created_below += 1

        def undo() -> None:
            self._unlink(entry.path)
            parent.created_below -= 1

        self._undo.append(undo)

    def replace(self, entry: Entry) -> None:
        node = self._nodes[entry.path]
        before, node.entry = node.entry, entry
        self._undo.append(lambda: setattr(node, "entry", before))

    def remove(self, path: str) -> None:
        node = self._unlink(path)
        self._undo.append(lambda: self._link(node))

    def owned_by(self, session_id: int) -> list[str]:
        return sorted(p for p, node in self._nodes.items() if node.entry.owner == session_id)

    def _link(self, node: _Node) -> None:
        path = node.entry.path
        self._nodes[path] = node
        insort(self._nodes[parent_of(path)].names, path.rpartition("/")[2])

    def _unlink(self, path: str) -> _Node:
        self._nodes[parent_of(path)].names.remove(path.rpartition("/")[2])
        return self._nodes.pop(path)


class MemoryTree:
    """What the stores share: the nodes, the number of the last change, the stores to tell."""

    def __init__(self) -> None:
        self.nodes = _MemoryNodes()
        self.zxid = 0
        self._sessions = 0
        self._watches: dict[Watches, None] = {}

    def new_session(self) -> int:
        self._sessions += 1
        return self._sessions

    def add_watches(self, watches: Watches) -> None:
        self._watches[watches] = None

    def remove_watches(self, watches: Watches) -> None:
        self._watches.pop(watches, None)

    def change(self, operations: Sequence[Operation], session_id: int) -> list[Entry | None]:
        if not operations:
            return []
        change = self._next(session_id)
        try:
            made = change.make(operations)
        except StoreError:
            self.nodes.roll_back()
            raise
        self._done(change)
        return made

    def end_session(self, session_id: int) -> None:
        change = self._next(session_id)
        change.end_session()
        self._done(change)

    def _next(self, session_id: int) -> Change:
        self.nodes.begin()
        return Change(self.nodes, self.zxid + 1, session_id, Changed())

    def _done(self, change: Change) -> None:
        self.zxid = change.zxid
        for watches in self._watches:
            watches.tell(change.changed)


class MemoryStore:
    """One broker's session with the tree.

    Every request gives way to other tasks first: whoever awaits a store is not alone meanwhile.
    """

    def __init__(self, tree: MemoryTree) -> None:
        self._tree = tree
        self._loop = asyncio.get_running_loop()
        self._watches = Watches(self._loop)
        self._on_session_lost: list[Callable[[], None]] = []
        self._closed = False
        self._reachable = True
        self._expired = False
        self.session_id = tree.new_session()
        tree.add_watches(self._watches)

    async def read(self, path: str) -> Entry | None:
        await self._turn()
        check_path(path)
        return self._tree.nodes.find(path)

    async def children(self, path: str) -> list[str]:
        await self._turn()
        return children(self._tree.nodes, path)

    async def create(
        self,
        path: str,
        data: bytes = b"",
        *,
        ephemeral: bool = False,
        sequential: bool = False,
        parents: bool = False,
    ) -> Entry:
        await self._turn()
        create = Create(path, data, ephemeral, sequential)
        above = missing_parents(self._tree.nodes, path) if parents else []
        return self._one([*above, create])

    async def write(self, path: str, data: bytes, *, expect_version: int = ANY_VERSION) -> Entry:
        await self._turn()
        return self._one([Write(path, data, expect_version)])

    async def delete(self, path: str, *, expect_version: int = ANY_VERSION) -> None:
        await self._turn()
        self._tree.change([Delete(path, expect_version)], self.session_id)

    async def multi(self, operations: Sequence[Operation]) -> list[Entry | None]:
        await self._turn()
        return self._tree.change(operations, self.session_id)

    def watch(self, path: str, on_change: Callable[[], None]) -> LocalWatch:
        return self._watches.watch(path, on_change)

    def watch_children(self, path: str, on_change: Callable[[], None]) -> LocalWatch:
        return self._watches.watch_children(path, on_change)

    def on_session_lost(self, callback: Callable[[], None]) -> None:
        self._on_session_lost.append(callback)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._tree.remove_watches(self._watches)
            if not self._expired:
                self._tree.end_session(self.session_id)

    def expire(self) -> None:
        """The tree takes this broker for dead; it learns of it at once, or when it reconnects."""
        if not self._expired:
            self._expired = True
            self._tree.end_session(self.session_id)
        if self._reachable:
            self._begin_anew()

    def cut_off(self) -> None:
        """From now on nothing reaches the tree, nor do its changes reach us."""
        self._reachable = False
        self._tree.remove_watches(self._watches)

    def reconnect(self) -> None:
        self._reachable = True
        self._tree.add_watches(self._watches)
        self._watches.tell_all()
        if self._expired:
            self._begin_anew()

    def _begin_anew(self) -> None:
        self._expired = False
        self.session_id = self._tree.new_session()
        self._watches.tell_all()
        for callback in self._on_session_lost:
            self._loop.call_soon(callback)

    async def _turn(self) -> None:
        session_id = self.session_id
        await asyncio.sleep(0)
        if self._closed or session_id != self.session_id:
            raise SessionLost(session_id)
        if not self._reachable:
            raise StoreUnavailable("the metadata store cannot be reached")

    def _one(self, operations: Sequence[Operation]) -> Entry:
        entry = self._tree.change(operations, self.session_id)[-1]
        assert entry is not None
        return entry
