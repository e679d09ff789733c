"""What clients may take of a server, and how fast they may come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

_UNLIMITED = 0x7FFF_FFFF


@dataclass(slots=True)
class Limits:
    """What clients may take; each is an option of its own and may change while running."""

    max_request_bytes: int = 100 * 1024 * 1024
    max_connections: int = _UNLIMITED
    max_connections_per_ip: int = _UNLIMITED
    per_ip_overrides: dict[str, int] = field(default_factory=dict)
    listener_connections: dict[str, int] = field(default_factory=dict)  # of those with their own
    # Whose clients are let in when all others may have no more: another one goes for each.
    protected_listener: str | None = None
    idle_ms: int = 600_000  # 0 or less: for ever
    listener_idle_ms: dict[str, int] = field(default_factory=dict)  # of those with their own
    queued_max_request_bytes: int = -1
    send_buffer_bytes: int = -1  # -1: as the system likes it
    receive_buffer_bytes: int = -1

    def idle_ms_of(self, listener: str) -> int:
        return self.listener_idle_ms.get(listener, self.idle_ms)

    def has_room(self, listener: str, *, of_listener: int, of_all: int) -> bool:
        """Whether one more may connect, where so many are."""
        if of_listener >= self.listener_connections.get(listener, _UNLIMITED):
            return False
        return of_all < self.max_connections or listener == self.protected_listener


class Rates(Protocol):
    """How fast connections may come; both answer in ms, and 0 is at once."""

    def delay_ms(self, listener: str, now_ms: int) -> int:
        """How long this one and those behind it wait before they are accepted."""

    def refusal_ms(self, ip: str, now_ms: int) -> int:
        """After which time this one is closed unheard; 0 if it may stay."""
