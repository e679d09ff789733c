"""Writes to the store that count only while we are the controller.

Each checks the version of /controller_epoch, which a newer controller has raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from ottla.controller.context import ControllerContext
from ottla.controller.lists import chunks
from ottla.store.paths import CONTROLLER_EPOCH
from ottla.store.port import (
    BadVersion,
    Check,
    Delete,
    Entry,
    MetadataStore,
    NoNode,
    Operation,
)

# ZooKeeper refuses requests above a megabyte; an operation here is a few hundred bytes.
MOST_OPERATIONS = 1_000
# Under way at a time: enough to keep the store busy, and not too much in one tick of the loop.
MOST_READS = 200


class ControllerMoved(Exception):
    """A newer controller has taken over: what we were about to write is not ours to write."""


class Fence:
    def __init__(self, store: MetadataStore, context: ControllerContext) -> None:
        self.store = store
        self._context = context

    async def multi(self, operations: Sequence[Operation]) -> list[Entry | None]:
        """All or nothing, and nothing if the controller has moved."""
        if not operations:
            return []
        check = Check(CONTROLLER_EPOCH, self._context.epoch_version)
        try:
            return (await self.store.multi([check, *operations]))[1:]
        except (BadVersion, NoNode) as error:
            if error.path != CONTROLLER_EPOCH:
                raise
            raise ControllerMoved(f"epoch {self._context.epoch} is over") from error

    async def read(self, paths: Iterable[str]) -> list[Entry | None]:
        """Many nodes, asked for together: the answers do not wait for one another."""
        entries: list[Entry | None] = []
        for some in chunks(paths, MOST_READS):
            entries += await asyncio.gather(*(self.store.read(path) for path in some))
        return entries

    async def delete(self, paths: Iterable[str]) -> None:
        """Nodes without children, whether they are still there or not."""
        for some in chunks(paths, MOST_OPERATIONS):
            try:
                await self.multi([Delete(path) for path in some])
            except NoNode:
                for path in some:
                    if await self.store.read(path):
                        await self.multi([Delete(path)])
