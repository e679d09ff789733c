"""Writes to a metadata store until it is killed, and says what was acknowledged.

`python -m tests.integration.store_writer FILE` prints a line `number path` for each change, where
`number` is what the node was to hold. It goes on where an earlier writer was stopped.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

from ottla.store.embedded import EmbeddedStore, EmbeddedTree
from ottla.store.port import Create, NodeExists, Write

WRITERS = 5


async def write(path: str) -> None:
    store = EmbeddedStore(EmbeddedTree(path))
    await store.create("/alive", ephemeral=True)
    await asyncio.gather(*(_write(store, f"/writer-{number}") for number in range(WRITERS)))


async def _write(store: EmbeddedStore, parent: str) -> None:
    with suppress(NodeExists):
        await store.create(parent, b"0")
    entry = await store.read(parent)
    assert entry is not None
    number = int(entry.data)
    while True:
        number += 1
        data = b"%d" % number
        # Both or neither: the parent holds the number of its newest child.
        await store.multi([Write(parent, data), Create(f"{parent}/n", data, sequential=True)])
        os.write(1, b"%d %s\n" % (number, parent.encode()))


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1]))
