"""Sends the markers of all transactions that end in one round of the loop, a request a broker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ottla.coordinators.transactions.marker_port import MarkerCodes, MarkerPort
from ottla.coordinators.transactions.requests import Marker
from ottla.timing.tick import Tick

_Order = tuple[Marker, Callable[[MarkerCodes], None]]


class MarkerSender:
    def __init__(self, port: MarkerPort, tick: Tick) -> None:
        self.leader_of = port.leader_of
        self._send = port.send
        self._tick = tick
        self._orders: dict[int, list[_Order]] = {}

    def send(self, broker: int, marker: Marker, to: Callable[[MarkerCodes], None]) -> None:
        """At the end of the round."""
        if not self._orders:
            self._tick.settle(self._flush)
        self._orders.setdefault(broker, []).append((marker, to))

    def _flush(self) -> None:
        orders, self._orders = self._orders, {}
        for broker, ordered in orders.items():
            self._send(broker, [marker for marker, _ in ordered], partial(_answer, ordered))


def _answer(ordered: list[_Order], codes: MarkerCodes) -> None:
    for _, to in ordered:
        to(codes)
