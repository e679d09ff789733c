"""What a broker needs of the world. The simulation hands over others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from ottla.network.sockets import Sockets
from ottla.storage.compactor import Cleaner
from ottla.storage.files import Disk
from ottla.storage.threads import Background
from ottla.store.port import MetadataStore
from ottla.timing.clock import Clock


class Randomness(Protocol):
    """Where ids, tags and placements come from."""

    def bytes(self, count: int) -> bytes: ...

    def below(self, limit: int) -> int:
        """A number from 0, and below `limit`."""


@dataclass(frozen=True, slots=True)
class Ports:
    clock: Clock
    spent_s: Callable[[], float]  # processor time, of the loop's thread
    disk: Disk
    background: Background
    randomness: Randomness
    open_store: Callable[[str], AbstractAsyncContextManager[MetadataStore]]  # by its file
    sockets: Sockets
    hostname: Callable[[], str]
    new_cleaner: Callable[[], Cleaner]
