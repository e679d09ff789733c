"""The metadata stores that one contract holds for, and how a test is run on each of them.

One more implementation is one more line in `IMPLEMENTATIONS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store.embedded import IN_MEMORY, EmbeddedStore, EmbeddedTree
from ottla.store.port import Entry, MetadataStore, NodeError

# Opens one more session with the tree that all sessions of a test share.
Open = Callable[[], Awaitable[MetadataStore]]
Implementation = Callable[[Path], AbstractAsyncContextManager[Open]]


@asynccontextmanager
async def in_memory(_: Path) -> AsyncIterator[Open]:
    tree = MemoryTree()

    async def open_session() -> MetadataStore:
        return MemoryStore(tree)

    yield open_session


@asynccontextmanager
async def embedded(folder: Path) -> AsyncIterator[Open]:
    async with _embedded_at(str(folder / "metadata.db")) as open_session:
        yield open_session


@asynccontextmanager
async def embedded_without_file(_: Path) -> AsyncIterator[Open]:
    async with _embedded_at(IN_MEMORY) as open_session:
        yield open_session


@asynccontextmanager
async def _embedded_at(path: str) -> AsyncIterator[Open]:
    tree = EmbeddedTree(path)

    async def open_session() -> MetadataStore:
        return EmbeddedStore(tree)

    try:
        yield open_session
    finally:
        await tree.close()


IMPLEMENTATIONS: list[Implementation] = [in_memory, embedded, embedded_without_file]


def contract(test: Callable[[Open], Awaitable[None]]) -> Callable[[Implementation, Path], None]:
    """Runs the test on a loop, once for each implementation."""

    async def run(implementation: Implementation, folder: Path) -> None:
        async with implementation(folder) as open_session:
            await test(open_session)

    @pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=lambda made: made.__name__)
    def test_an_implementation(implementation: Implementation, tmp_path: Path) -> None:
        asyncio.run(run(implementation, tmp_path))

    return test_an_implementation


class Told:
    """Counts how often it was called, and can be waited for."""

    def __init__(self) -> None:
        self.count = 0
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self.count += 1
        self._event.set()

    async def again(self) -> None:
        """Until it is called, if it was not since the last time."""
        await asyncio.wait_for(self._event.wait(), 30)
        self._event.clear()


async def existing(store: MetadataStore, path: str) -> Entry:
    entry = await store.read(path)
    assert entry is not None
    return entry


async def refusal(asked: Awaitable[object]) -> type[BaseException] | None:
    try:
        await asked
    except NodeError as error:
        return type(error)
    return None
