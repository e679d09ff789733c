"""Client quotas: who has used how much, and how long it has to rest.

Rules only. A sensor counts for all who share a limit; who has none is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite, nan

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.quota_entities import Bounds, ClientEntity, entity_of, sanitize
from ottla.security.rates import SampledAverage, SampledRate, TokenBucket

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
_FORGET_AFTER_MS = 3_600_000
_MOST_FOUND = 10_000
_NANOSECONDS_PER_PERCENT = 10_000_000


@dataclass(frozen=True, slots=True)
class Windows:
    """`quota.window.num` samples of `quota.window.size.seconds`."""

    samples: int = 11
    window_ms: int = 1000


class Sensor:
    """What those who share one limit have used lately, and how they were throttled."""

    __slots__ = (
        "bound", "bucket", "rate", "sharers", "source", "throttle_time", "throttled_count",
        "throttled_ms", "used_ms",
    )  # fmt: skip

    def __init__(self, sharers: ClientEntity, windows: Windows, now_ms: int) -> None:
        self.sharers = sharers
        self.source = ClientEntity()
        self.bound = 0.0
        self.rate = SampledRate(samples=windows.samples, window_ms=windows.window_ms)
        self.bucket = TokenBucket(samples=windows.samples, window_ms=windows.window_ms)
        self.throttle_time = SampledAverage(samples=2, window_ms=30_000)
        self.throttled_count = 0
        self.throttled_ms = 0
        self.used_ms = now_ms


class ClientQuotas:
    """One kind of quota: its limits, and the sensors of those who have one."""

    def __init__(self, windows: Windows, *, most_ms: int | None = None) -> None:
        self.windows = windows
        self.bounds = Bounds()
        self._most_ms = most_ms
        self._sensors: dict[ClientEntity, Sensor] = {}
        self._found: dict[tuple[str, str], Sensor | None] = {}  # by user and client id
        self._tidied_ms = 0

    def set(self, entity: ClientEntity, bound: float | None) -> None:
        """What was used stays used; who is throttled stays so until the time is over."""
        self.bounds.set(entity, bound)
        self._found.clear()
        for sharers, sensor in list(self._sensors.items()):
            source = self.bounds.source(sharers)
            if source is None:
                del self._sensors[sharers]
            else:
                sensor.source, sensor.bound = source, self.bounds[source]

    def sensor(self, user: str, client_id: str, now_ms: int) -> Sensor | None:
        key = (user, client_id)
        if key not in self._found:
            self._tidy(now_ms)
            if len(self._found) >= _MOST_FOUND:
                self._found.clear()
            self._found[key] = self._find(user, client_id, now_ms)
        sensor = self._found[key]
        if sensor is not None:
            sensor.used_ms = now_ms
        return sensor

    def _find(self, user: str, client_id: str, now_ms: int) -> Sensor | None:
        sharers = self.bounds.sharers(sanitize(user), sanitize(client_id))
        source = self.bounds.source(sharers)
        if source is None:
            return None
        sensor = self._sensors.get(sharers)
        if sensor is None:
            sensor = self._sensors[sharers] = Sensor(sharers, self.windows, now_ms)
        sensor.source, sensor.bound = source, self.bounds[source]
        return sensor

    def _tidy(self, now_ms: int) -> None:
        """Client ids may come and go without end."""
        if now_ms - self._tidied_ms < _FORGET_AFTER_MS:
            return
        self._tidied_ms = now_ms
        self._found.clear()
        for sharers, sensor in list(self._sensors.items()):
            if now_ms - sensor.used_ms >= _FORGET_AFTER_MS:
                del self._sensors[sharers]

    def record(self, sensor: Sensor | None, value: float, now_ms: int) -> int:
        """How long to throttle, in ms."""
        if sensor is None:
            return 0
        sensor.rate.record(value, now_ms)
        excess_ms = sensor.rate.excess_ms(sensor.bound, now_ms)
        return excess_ms if self._most_ms is None else min(excess_ms, self._most_ms)

    def throttled(self, sensor: Sensor | None, throttle_ms: int, now_ms: int) -> None:
        assert sensor is not None, "who has no limit is not throttled"
        sensor.throttle_time.record(throttle_ms, now_ms)
        sensor.throttled_count += 1
        sensor.throttled_ms += throttle_ms

    def most_in_windows(self, sensor: Sensor | None) -> float:
        """What may come at once without being throttled, if nothing came lately."""
        if sensor is None:
            return float("inf")
        return sensor.bound * (self.windows.samples - 1) * self.windows.window_ms / 1000

    def sensors(self) -> Iterator[Sensor]:
        yield from self._sensors.values()


class MutationQuota:
    """What one request may change (KIP-599). Of old requests nothing is refused, only later ones.

    The time to rest shrinks while the request itself waits.
    """

    def __init__(self, sensor: Sensor | None, *, is_strict: bool) -> None:
        self.sensor = sensor
        self._is_strict = is_strict
        self._throttle_ms = 0
        self._recorded_ms = 0

    def spend(self, count: int, now_ms: int) -> None:
        sensor = self.sensor
        if sensor is None:
            return
        bucket, bound = sensor.bucket, sensor.bound
        if self._is_strict and (excess_ms := bucket.excess_ms(bound, now_ms)):
            self._throttle_ms, self._recorded_ms = excess_ms, now_ms
            detail = f"{bound:g} partitions a second may change; try again in {excess_ms} ms"
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, detail)
        bucket.take(count, bound, now_ms)
        sensor.rate.record(count, now_ms)
        if not self._is_strict and (excess_ms := bucket.excess_ms(bound, now_ms)):
            self._throttle_ms, self._recorded_ms = excess_ms, now_ms

    def throttle_ms(self, now_ms: int) -> int:
        return max(0, self._throttle_ms - (now_ms - self._recorded_ms))


@dataclass(slots=True)
class Quotas:
    """All kinds, for one broker."""

    windows: Windows = Windows()
    controller_windows: Windows = Windows()
    produce: ClientQuotas = field(init=False)
    fetch: ClientQuotas = field(init=False)
    request: ClientQuotas = field(init=False)
    mutation: ClientQuotas = field(init=False)
    exempt: SampledRate = field(init=False)  # the time of requests that no quota is for

    def __post_init__(self) -> None:
        windows = self.windows
        self.produce, self.fetch = ClientQuotas(windows), ClientQuotas(windows)
        self.request = ClientQuotas(windows, most_ms=windows.window_ms)
        self.mutation = ClientQuotas(self.controller_windows)
        self.exempt = SampledRate(samples=windows.samples, window_ms=windows.window_ms)

    @property
    def are_set(self) -> bool:
        return any(quotas.bounds for quotas in self.by_key().values())

    def by_key(self) -> dict[str, ClientQuotas]:
        return {
            PRODUCER_BYTE_RATE: self.produce,
            CONSUMER_BYTE_RATE: self.fetch,
            REQUEST_PERCENTAGE: self.request,
            CONTROLLER_MUTATION_RATE: self.mutation,
        }

    def stored(self, entity_type: str, name: str, values: Mapping[str, str]) -> None:
        """What the store says of `users` or `clients`; other values there are not ours."""
        entity = entity_of(entity_type, name)
        for key, quotas in self.by_key().items():
            quotas.set(entity, parse(values.get(key)))


def parse(text: str | None) -> float | None:
    """None also for what is no number: whoever wrote that into the store sets no limit."""
    try:
        value = float(text) if text is not None else nan
    except ValueError:
        return None
    return value if isfinite(value) else None


def percent(nanoseconds: int) -> float:
    """A thread's time, so that a whole second of it makes a rate of 100."""
    return nanoseconds / _NANOSECONDS_PER_PERCENT
