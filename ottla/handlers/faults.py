"""Faults on request, for tests of clients: the next requests of an API fail, wait or get lost."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ottla.protocol.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one request: a delay, then an error in its answer, or none at all."""

    error: ErrorCode | None = None
    delay_ms: int = 0
    drops: bool = False  # the connection is closed, the request not served


class Faults:
    """Set up by whoever tests; each fault is used once."""

    def __init__(self) -> None:
        self._waiting: dict[int, deque[Fault]] = {}

    def add(self, key: int, fault: Fault, *, count: int) -> None:
        self._waiting.setdefault(key, deque()).extend([fault] * count)

    def take(self, key: int) -> Fault | None:
        waiting = self._waiting.get(key)
        return waiting.popleft() if waiting else None

    def waiting(self) -> dict[int, int]:
        """How many no request has met yet, by API."""
        return {key: len(faults) for key, faults in self._waiting.items() if faults}

    def clear(self) -> None:
        self._waiting.clear()
