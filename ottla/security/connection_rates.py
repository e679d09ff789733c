"""How fast connections may come: to the broker, to a listener, and from one address (KIP-612).

Too many for the broker or a listener wait before they are accepted. Too many from one address are
accepted, left unheard for the time they should have waited, and closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ottla.security.quota_changes import CONNECTION_CREATION_RATE
from ottla.security.quota_entities import DEFAULT
from ottla.security.quotas import Windows, parse
from ottla.security.rates import SampledAverage, SampledRate

UNLIMITED = 0x7FFF_FFFF
_FORGET_AFTER_MS = 3_600_000


class _Arrivals:
    """Of one listener, of one address, or of all; never throttled longer than a sample."""

    __slots__ = ("_most_ms", "rate", "throttle_time", "used_ms")

    def __init__(self, windows: Windows) -> None:
        self.rate = SampledRate(samples=windows.samples, window_ms=windows.window_ms)
        self.throttle_time = SampledAverage(samples=2, window_ms=30_000)
        self._most_ms = windows.window_ms
        self.used_ms = 0

    def arrived(self, bound: float, now_ms: int) -> int:
        self.used_ms = now_ms
        self.rate.record(1, now_ms)
        if bound >= UNLIMITED:
            return 0
        return min(self.rate.excess_ms(bound, now_ms), self._most_ms)


class ConnectionRates:
    """One broker's. Its limit spares the listener between brokers, if that has its own."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._broker_bound = float(UNLIMITED)
        self._listener_bounds: dict[str, float] = {}
        self._protected: str | None = None
        self._ip_bounds: dict[str, float] = {}
        self._broker = _Arrivals(windows)
        self._listeners: dict[str, _Arrivals] = {}
        self._ips: dict[str, _Arrivals] = {}
        self._tidied_ms = 0

    def limit(self, bound: float, by_listener: Mapping[str, float], protected: str | None) -> None:
        self._broker_bound, self._protected = bound, protected
        self._listener_bounds = dict(by_listener)

    def stored(self, ip: str, values: Mapping[str, str]) -> None:
        """What the store says of `ips`."""
        bound = parse(values.get(CONNECTION_CREATION_RATE))
        if bound is None:
            self._ip_bounds.pop(ip, None)
        else:
            self._ip_bounds[ip] = bound

    def delay_ms(self, listener: str, now_ms: int) -> int:
        """How long the next connection of this listener, and those behind it, have to wait."""
        delay_ms = 0
        if listener != self._protected:
            delay_ms = self._broker.arrived(self._broker_bound, now_ms)
        arrivals = self._listeners.setdefault(listener, _Arrivals(self._windows))
        bound = self._listener_bounds.get(listener, UNLIMITED)
        delay_ms = max(delay_ms, arrivals.arrived(bound, now_ms))
        if delay_ms > 0:
            arrivals.throttle_time.record(delay_ms, now_ms)
        return delay_ms

    def refusal_ms(self, ip: str, now_ms: int) -> int:
        """0 if a connection of this address may stay; else after which time it is closed."""
        bound = self._ip_bounds.get(ip, self._ip_bounds.get(DEFAULT))
        if bound is None or bound >= UNLIMITED:
            return 0
        self._tidy(now_ms)
        arrivals = self._ips.setdefault(ip, _Arrivals(self._windows))
        refusal_ms = arrivals.arrived(bound, now_ms)
        if refusal_ms > 0:
            arrivals.rate.record(-1, now_ms)  # it has not really come
            arrivals.throttle_time.record(refusal_ms, now_ms)
        return refusal_ms

    def _tidy(self, now_ms: int) -> None:
        if now_ms - self._tidied_ms >= _FORGET_AFTER_MS:
            self._tidied_ms = now_ms
            old_ms = now_ms - _FORGET_AFTER_MS
            self._ips = {ip: each for ip, each in self._ips.items() if each.used_ms > old_ms}

    def rates(self, now_ms: int) -> Iterator[tuple[str, dict[str, str], float]]:
        """Kafka's names of what is measured, with their labels."""
        yield "broker-connection-accept-rate", {}, self._broker.rate.measure(now_ms)
        for kind, found in (("listener", self._listeners), ("ip", self._ips)):
            for name, arrivals in found.items():
                yield "connection-accept-rate", {kind: name}, arrivals.rate.measure(now_ms)
                throttle_time = arrivals.throttle_time.measure(now_ms)
                yield "connection-accept-throttle-time", {kind: name}, throttle_time
