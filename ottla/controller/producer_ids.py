"""Ids for producers, unique in the cluster: taken from the store a thousand at a time."""

from __future__ import annotations

import asyncio
import logging

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store.paths import LATEST_PRODUCER_ID_BLOCK
from ottla.store.port import BadVersion, Entry, MetadataStore, NodeExists, StoreError
from ottla.store.znodes import ProducerIdBlock

BLOCK_SIZE = 1_000
# The next block is fetched when so few ids are left of this one.
FEW = BLOCK_SIZE // 10
RETRY_BACKOFF_SECONDS = 0.1
_LAST_ID = 2**63 - 1

log = logging.getLogger(__name__)


async def allocate_block(store: MetadataStore, *, broker_id: int) -> range:
    """The next block, for this broker alone."""
    while True:
        entry = await store.read(LATEST_PRODUCER_ID_BLOCK)
        block = _block_after(entry, broker_id)
        try:
            if entry is None:
                await store.create(LATEST_PRODUCER_ID_BLOCK, block.encode())
            else:
                await store.write(
                    LATEST_PRODUCER_ID_BLOCK, block.encode(), expect_version=entry.version
                )
        except (BadVersion, NodeExists):
            continue  # another broker has taken that block
        return range(block.first, block.last + 1)


def _block_after(entry: Entry | None, broker_id: int) -> ProducerIdBlock:
    first = ProducerIdBlock.decode(entry.data).last + 1 if entry and entry.data else 0
    last = first + BLOCK_SIZE - 1
    if last > _LAST_ID:
        raise KafkaError(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"all producer ids up to {first - 1} are used up"
        )
    return ProducerIdBlock(broker_id=broker_id, first=first, last=last)


class ProducerIds:
    """Hands out ids; `run` must be running to fetch new ones."""

    def __init__(self, store: MetadataStore, *, broker_id: int) -> None:
        self._store = store
        self._broker_id = broker_id
        self._ids = range(0)
        self._next = range(0)
        self._wanted = asyncio.Event()
        self._fetched = asyncio.Event()

    def take(self) -> int | None:
        """An id at once; None if the next block is not there yet, which is rare."""
        if not self._ids:
            self._ids, self._next = self._next, range(0)
        if len(self._ids) <= FEW and not self._next:
            self._fetched.clear()
            self._wanted.set()
        if not self._ids:
            return None
        taken, self._ids = self._ids[0], self._ids[1:]
        return taken

    async def next(self) -> int:
        while (taken := self.take()) is None:
            await self._fetched.wait()
        return taken

    async def run(self) -> None:
        """Fetches blocks ahead, until it is cancelled."""
        while True:
            await self._wanted.wait()
            try:
                self._next = await allocate_block(self._store, broker_id=self._broker_id)
            except (KafkaError, StoreError) as error:
                log.warning("no producer ids: %s; trying again", error)
                await asyncio.sleep(RETRY_BACKOFF_SECONDS)
            else:
                self._wanted.clear()
                self._fetched.set()
