"""One direction of a connection: bytes arrive late, in pieces and in order, and only so many.

As TCP: who does not read makes the sender wait, and after a reset nothing more arrives.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from functools import partial

Event = tuple[float, str, bytes]  # when, on which pipe, what arrived

_MOST_EVENTS_KEPT = 100_000
_MOST_PIECES = 4


class Wires:
    """How slow all pipes are, and where they cut; keeps the list of what arrived."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        chance: random.Random,
        *,
        latency_ms: tuple[int, int] = (0, 0),
    ) -> None:
        self.loop = loop
        self.latency_ms = latency_ms  # the least and the most
        self.events: deque[Event] = deque(maxlen=_MOST_EVENTS_KEPT)
        self._chance = chance

    def due(self) -> float:
        """When something that is sent now arrives."""
        return self.loop.time() + self._chance.randint(*self.latency_ms) / 1000

    def cut(self, data: bytes) -> list[bytes]:
        count = self._chance.randint(1, _MOST_PIECES)
        places = sorted(self._chance.randint(0, len(data)) for _ in range(count - 1))
        pieces = [
            data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)
        ]
        return [piece for piece in pieces if piece]


class Pipe:
    """`on_news` is the reader's, `on_room` the writer's; both are called by the loop."""

    def __init__(self, wires: Wires, name: str, *, capacity_bytes: int) -> None:
        self.name = name
        self.capacity_bytes = capacity_bytes
        self.arrived = bytearray()
        self.is_ended = False  # all that was sent has arrived, and no more will come
        self.is_broken = False
        self.on_news: Callable[[], None] = _nobody_listens
        self.on_room: Callable[[], None] = _nobody_listens
        self._wires = wires
        self._flying: deque[bytes | None] = deque()
        self._held_bytes = 0  # sent, and not known to be read
        self._due = 0.0

    @property
    def room_bytes(self) -> int:
        return max(0, self.capacity_bytes - self._held_bytes)

    @property
    def is_readable(self) -> bool:
        return bool(self.arrived) or self.is_ended or self.is_broken

    def send(self, data: bytes | memoryview) -> int:
        """How many bytes of it found room."""
        taken = bytes(data[: self.room_bytes])
        self._held_bytes += len(taken)
        for piece in self._wires.cut(taken):
            self._fly(piece)
        return len(taken)

    def end(self) -> None:
        """After what was sent."""
        self._fly(None)

    def break_off(self) -> None:
        """What has not arrived never will; the reader hears of it."""
        self._flying.clear()
        self._wires.loop.call_at(self._wires.due(), self._break)

    def _fly(self, what: bytes | None) -> None:
        self._flying.append(what)
        self._due = max(self._due, self._wires.due())
        # Calls of one time come in any order: each takes what was sent first.
        self._wires.loop.call_at(self._due, self._arrive)

    def _arrive(self) -> None:
        if self.is_broken or not self._flying:
            return
        what = self._flying.popleft()
        self._wires.events.append((self._wires.loop.time(), self.name, what or b""))
        if what is None:
            self.is_ended = True
        else:
            self.arrived += what
        self.on_news()

    def _break(self) -> None:
        self.is_broken = True
        self.on_news()

    def receive(self, most: int) -> bytes:
        data = bytes(self.arrived[:most])
        del self.arrived[:most]
        self._wires.loop.call_at(self._wires.due(), partial(self._acknowledge, len(data)))
        return data

    def _acknowledge(self, count: int) -> None:
        self._held_bytes -= count
        self.on_room()


def _nobody_listens() -> None:
    """Until an end is there, or when it is gone."""
