"""Clients of a worker process, kept for its next task: to connect anew costs more than a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

Client = TypeVar("Client")
_MOST_IDLE = 16


class Pool(Generic[Client]):
    """Lends a client to one task at a time; one whose task failed is not used again."""

    def __init__(self, make: Callable[[dict[str, object]], Client]) -> None:
        self._make = make
        self._idle: dict[object, Client] = {}

    @contextmanager
    def lent(self, settings: Mapping[str, object], *, purpose: str = "") -> Iterator[Client]:
        """`purpose` tells clients of the same settings apart."""
        key = (purpose, *sorted(settings.items()))
        client = self._idle.pop(key, None) or self._make(dict(settings))
        yield client
        self._idle[key] = client
        if len(self._idle) > _MOST_IDLE:
            del self._idle[next(iter(self._idle))]
