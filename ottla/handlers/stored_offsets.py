"""Offsets as consumers before 0.9 keep them: in the metadata store, by group and partition."""

from __future__ import annotations

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store import paths
from ottla.store.port import BadPath, MetadataStore, NodeExists, NoNode


class StoredOffsets:
    """Bare offsets: what was committed beside them is not kept, as in Kafka."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def commit(self, group: str, topic: str, index: int, offset: int) -> None:
        path = paths.consumer_offset(group=group, topic_name=topic, index=index)
        data = str(offset).encode()
        try:
            try:
                await self._store.write(path, data)
            except NoNode:
                await self._store.create(path, data, parents=True)
        except NodeExists:
            await self._store.write(path, data)  # another came first
        except BadPath as error:
            raise _no_group(group) from error

    async def fetch(self, group: str, topic: str, index: int) -> int | None:
        try:
            path = paths.consumer_offset(group=group, topic_name=topic, index=index)
            entry = await self._store.read(path)
        except BadPath as error:
            raise _no_group(group) from error
        return int(entry.data) if entry is not None and entry.data else None


def _no_group(group: str) -> KafkaError:
    detail = f"{group!r} cannot be a part of a node's path, where version 0 keeps its offsets"
    return KafkaError(ErrorCode.INVALID_GROUP_ID, detail)
