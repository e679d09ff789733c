"""One member of a group: what it told, what it was assigned, what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ottla.coordinators.groups.requests import JoinAnswer, Protocols, SyncAnswer


@dataclass(slots=True, eq=False)
class Member:
    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    # Until the first answer to its join: it cannot heartbeat, so another time limit holds.
    is_new: bool = False
    awaiting_join: Callable[[JoinAnswer], None] | None = None
    awaiting_sync: Callable[[SyncAnswer], None] | None = None

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """It cannot heartbeat while it waits for us."""
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def metadata(self, protocol: str | None) -> bytes:
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        raise AssertionError(f"{self.id} has no protocol {protocol}")

    def vote(self, candidates: dict[str, None]) -> str:
        return next(name for name, _ in self.protocols if name in candidates)
