"""The ports of a broker that runs on this machine, for real."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import SystemRandom

from ottla.broker.ports import Ports
from ottla.network.selector import ServingSelector
from ottla.network.sockets import SystemSockets
from ottla.storage.disk import RealDisk, raise_descriptor_limit
from ottla.storage.threads import FileThreads
from ottla.storage.worker import CleaningWorker
from ottla.store.embedded import EmbeddedStore, EmbeddedTree
from ottla.store.port import MetadataStore
from ottla.timing.clock import SystemClock, thread_spent_s

_FILE_THREADS = 4
_MOST_OPEN_FILES = 10_000


class SystemRandomness:
    """The operating system's."""

    def __init__(self) -> None:
        self._source = SystemRandom()

    def bytes(self, count: int) -> bytes:
        return self._source.randbytes(count)

    def below(self, limit: int) -> int:
        return self._source.randrange(limit)


@asynccontextmanager
async def embedded_store(path: str) -> AsyncIterator[MetadataStore]:
    tree = EmbeddedTree(path)
    try:
        store = EmbeddedStore(tree)
        try:
            yield store
        finally:
            await store.close()
    finally:
        await tree.close()


def machine_ports(selector: ServingSelector | None = None) -> Ports:
    """With the `selector` of its loop a broker serves its clients without asyncio between them."""
    # The other half of the descriptors is for clients.
    most_open_files = min(raise_descriptor_limit() // 2, _MOST_OPEN_FILES)
    return Ports(
        clock=SystemClock(),
        spent_s=thread_spent_s,
        disk=RealDisk(max_open_files=most_open_files),
        background=FileThreads(_FILE_THREADS),
        randomness=SystemRandomness(),
        open_store=embedded_store,
        sockets=SystemSockets(selector),
        hostname=socket.gethostname,
        new_cleaner=CleaningWorker,
    )
