"""The metadata store without a second program: a SQLite file, on a thread of its own.

What is asked in one tick of the loop shares one transaction, and so one wait for the disk; so
does what is asked while the disk is busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from ottla.store.database import Database, Request
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
from ottla.store.tree import Change, Changed, check_path, children, missing_parents
from ottla.store.watches import LocalWatch, Watches

T = TypeVar("T")

IN_MEMORY = ":memory:"


class EmbeddedTree:
    """One open file; each broker of this process has a session with it, an `EmbeddedStore`."""

    def __init__(self, path: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._database = Database(path)
        self._sessions = 0
        self._watches: dict[Watches, None] = {}
        self._asked: list[Request] = []  # in this tick
        self._waiting: dict[Request, asyncio.Future[Any]] = {}
        self._queue: SimpleQueue[list[Request] | None] = SimpleQueue()
        self._ended = self._loop.create_future()
        self._closing = False
        self._thread = Thread(target=self._serve, name="ottla-metadata", daemon=True)
        self._thread.start()

    @property
    def path(self) -> str:
        return self._database.path

    @property
    def commits(self) -> int:
        """How many transactions were written."""
        return self._database.commits

    def new_session(self) -> int:
        self._sessions += 1
        return self._sessions

    def add_watches(self, watches: Watches) -> None:
        self._watches[watches] = None

    def remove_watches(self, watches: Watches) -> None:
        self._watches.pop(watches, None)

    async def look(self, work: Callable[[Database], T]) -> T:
        found: T = await self._ask(Request(lambda database, _: work(database), writes=False))
        return found

    async def change(self, work: Callable[[Change], T], session_id: int) -> T:
        made: T = await self._ask(
            Request(lambda db, changed: db.change(work, session_id, changed), writes=True)
        )
        return made

    async def close(self) -> None:
        """What was asked is done first. The ephemeral nodes of open sessions go at the next start.

        Whoever closes twice waits for the same end.
        """
        if not self._closing:
            self._closing = True
            self._hand_over()
            self._queue.put(None)
        await asyncio.shield(self._ended)
        self._thread.join()

    def _ask(self, request: Request) -> asyncio.Future[Any]:
        if self._closing or self._ended.done():
            raise StoreUnavailable(f"{self.path}: the metadata store is closed")
        if not self._asked:
            self._loop.call_soon(self._hand_over)
        self._asked.append(request)
        self._waiting[request] = self._loop.create_future()
        return self._waiting[request]

    def _hand_over(self) -> None:
        if self._asked:
            self._queue.put(self._asked)
            self._asked = []

    def _serve(self) -> None:
        """The thread. It touches the database and the queue, and nothing else of ours."""
        try:
            last = False
            while not last:
                requests, last = self._next()
                changed = self._database.run(requests)
                self._on_loop(partial(self._settle, requests, changed))
        finally:
            self._database.close()
            self._on_loop(self._end)

    def _on_loop(self, callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed, so nobody waits
            self._loop.call_soon_threadsafe(callback)

    def _next(self) -> tuple[list[Request], bool]:
        """Waits for something to do, then takes all there is; True when there will be no more."""
        requests: list[Request] = []
        while not requests or not self._queue.empty():
            asked = self._queue.get()
            if asked is None:
                return requests, True
            requests += asked
        return requests, False

    def _settle(self, requests: list[Request], changed: Changed) -> None:
        for request in requests:
            future = self._waiting.pop(request)
            if future.done():  # whoever asked has been cancelled
                continue
            if isinstance(request.outcome, StoreError):
                future.set_exception(request.outcome)
            else:
                future.set_result(request.outcome)
        # After the answers, so that whoever made a change knows of it before those who watch.
        for watches in self._watches:
            watches.tell(changed)

    def _end(self) -> None:
        self._ended.set_result(None)
        for future in self._waiting.values():  # none, unless the thread died of a bug
            if not future.done():
                future.set_exception(StoreUnavailable(f"{self.path}: its thread has died"))
        self._waiting.clear()


class EmbeddedStore:
    """A session with the file. It ends with `close` or with the process, so it is never lost."""

    def __init__(self, tree: EmbeddedTree) -> None:
        self._tree = tree
        self._watches = Watches(asyncio.get_running_loop())
        self._closed = False
        self.session_id = tree.new_session()
        tree.add_watches(self._watches)

    async def read(self, path: str) -> Entry | None:
        self._check_open()
        check_path(path)
        return await self._tree.look(lambda nodes: nodes.find(path))

    async def children(self, path: str) -> list[str]:
        self._check_open()
        return await self._tree.look(lambda nodes: children(nodes, path))

    async def create(
        self,
        path: str,
        data: bytes = b"",
        *,
        ephemeral: bool = False,
        sequential: bool = False,
        parents: bool = False,
    ) -> Entry:
        create = Create(path, data, ephemeral, sequential)

        def make(change: Change) -> Entry | None:
            above = missing_parents(change.nodes, path) if parents else []
            return change.make([*above, create])[-1]

        return _made(await self._change(make))

    async def write(self, path: str, data: bytes, *, expect_version: int = ANY_VERSION) -> Entry:
        return _made((await self.multi([Write(path, data, expect_version)]))[0])

    async def delete(self, path: str, *, expect_version: int = ANY_VERSION) -> None:
        await self.multi([Delete(path, expect_version)])

    async def multi(self, operations: Sequence[Operation]) -> list[Entry | None]:
        asked = list(operations)  # the thread's own: the caller may go on with his
        return await self._change(lambda change: change.make(asked)) if asked else []

    def watch(self, path: str, on_change: Callable[[], None]) -> LocalWatch:
        return self._watches.watch(path, on_change)

    def watch_children(self, path: str, on_change: Callable[[], None]) -> LocalWatch:
        return self._watches.watch_children(path, on_change)

    def on_session_lost(self, callback: Callable[[], None]) -> None:
        """Never called: the session lasts as long as the process."""

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._tree.remove_watches(self._watches)
            await self._tree.change(Change.end_session, self.session_id)

    async def _change(self, work: Callable[[Change], T]) -> T:
        self._check_open()
        return await self._tree.change(work, self.session_id)

    def _check_open(self) -> None:
        if self._closed:
            raise SessionLost(self.session_id)


def _made(entry: Entry | None) -> Entry:
    assert entry is not None
    return entry
