"""How a broker joins the cluster: the tree's first nodes, the cluster's id, its own id and node."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable

from ottla.store import paths
from ottla.store.port import MetadataStore, NodeExists, StoreError
from ottla.store.registration import BrokerRegistration
from ottla.store.znodes import ClusterId

RandomBytes = Callable[[int], bytes]


class BrokerIdTaken(StoreError):
    """Another broker is registered with our id, or we are, in a session that has not ended yet."""


async def create_roots(store: MetadataStore) -> None:
    for path in paths.PERSISTENT_ROOTS:
        if await store.read(path) is None:
            try:
                await store.create(path, parents=True)
            except NodeExists:
                continue  # another broker starts at the same moment


async def cluster_id(store: MetadataStore, random_bytes: RandomBytes) -> str:
    """The id of this cluster, which its first broker draws: 22 characters, as a topic's."""
    while (entry := await store.read(paths.CLUSTER_ID)) is None:
        drawn = urlsafe_b64encode(random_bytes(16)).decode().rstrip("=")
        try:
            await store.create(paths.CLUSTER_ID, ClusterId(drawn).encode(), parents=True)
        except NodeExists:
            continue
        return drawn
    return ClusterId.decode(entry.data).id


async def generate_broker_id(store: MetadataStore, *, reserved_max: int) -> int:
    """An id that no broker has drawn or been given: above reserved.broker.max.id."""
    entry = await store.write(paths.BROKER_SEQUENCE_ID, b"")
    return reserved_max + entry.version


class Registration:
    """This broker's node. `described` says where the broker is, at the time it is asked."""

    def __init__(
        self, store: MetadataStore, broker_id: int, described: Callable[[], BrokerRegistration]
    ) -> None:
        self.broker_id = broker_id
        self.epoch = -1
        self._store = store
        self._described = described

    async def register(self) -> int:
        """The broker epoch; again after the session was lost, with a new one."""
        path = paths.broker(self.broker_id)
        try:
            entry = await self._store.create(path, self._described().encode(), ephemeral=True)
        except NodeExists:
            found = await self._store.read(path)
            if found is None or found.owner != self._store.session_id:
                raise BrokerIdTaken(
                    f"{path}: broker id {self.broker_id} is in use by another session; "
                    "set another broker.id, or wait until that session ends"
                ) from None
            entry = found
        self.epoch = entry.czxid
        return self.epoch
