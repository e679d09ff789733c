"""How often each API was asked and refused, by version and error, and how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ottla.metrics import SIZES_BYTES, TIMES_MS, Counter, Histogram
from ottla.protocol.errors import ErrorCode

_PRODUCE, _FETCH = 0, 1
# Of every kind so many requests are timed, and then one in so many: a clock read and three numbers
# are a tenth of what a small fetch takes.
_TIMED = 16
_FOLLOWER_FETCH = -1  # where an API key stands; Kafka tells these apart from consumers'


class RequestTimes:
    """Of one kind of request. Most are answered at once, and are one observation then."""

    __slots__ = (
        "_at_once_ms",
        "_before_ms",
        "_waited_ms",
        "_whole_ms",
        "size_bytes",
        "throttle_ms",
    )

    def __init__(self) -> None:
        self._at_once_ms = Histogram(TIMES_MS)
        self._before_ms = Histogram(TIMES_MS)
        self._waited_ms = Histogram(TIMES_MS)
        self._whole_ms = Histogram(TIMES_MS)
        self.throttle_ms = Histogram(TIMES_MS)
        self.size_bytes = Histogram(SIZES_BYTES)

    def answered(self, *, begun_ns: int, parked_ns: int, now_ns: int) -> None:
        """`parked_ns` is negative if it did not wait."""
        if parked_ns < 0:
            self._at_once_ms.observe((now_ns - begun_ns) / 1e6)
            return
        self._before_ms.observe((parked_ns - begun_ns) / 1e6)
        self._waited_ms.observe((now_ns - parked_ns) / 1e6)
        self._whole_ms.observe((now_ns - begun_ns) / 1e6)

    def total_ms(self) -> Histogram:
        return self._at_once_ms.plus(self._whole_ms)

    def local_ms(self) -> Histogram:
        return self._at_once_ms.plus(self._before_ms)

    def remote_ms(self) -> Histogram:
        """Who was answered at once has waited for nothing."""
        at_once = Histogram(TIMES_MS)
        at_once.observe(0, times=self._at_once_ms.count)
        return at_once.plus(self._waited_ms)

    def plus(self, other: RequestTimes) -> RequestTimes:
        both = RequestTimes()
        for name in self.__slots__:
            setattr(both, name, getattr(self, name).plus(getattr(other, name)))
        return both


@dataclass(slots=True)
class RequestCounts:
    """Read by the metrics. A repeated request is known by the one before it, and is only counted.

    Produces of that kind are counted by topic and version: one step does for both.
    """

    failures: int = 0  # requests that met a bug of ours
    errors: dict[tuple[int, int], int] = field(default_factory=dict)  # by API key and code
    follower_fetches: dict[int, int] = field(default_factory=dict)  # by version
    _counters: dict[tuple[int, int], Counter] = field(default_factory=dict)
    _produces: dict[str, dict[int, Counter]] = field(default_factory=dict)
    _times: dict[int, RequestTimes] = field(default_factory=dict)

    @property
    def by_version(self) -> dict[tuple[int, int], int]:
        found = {key: each.count for key, each in self._counters.items()}
        for versions in self._produces.values():
            for version, each in versions.items():
                found[_PRODUCE, version] = found.get((_PRODUCE, version), 0) + each.count
        return {key: count for key, count in found.items() if count}

    def total(self) -> int:
        return sum(self.by_version.values())

    def of(self, key: int, version: int) -> Counter:
        """To be kept by whoever counts often."""
        counter = self._counters.get((key, version))
        if counter is None:
            counter = self._counters[key, version] = Counter()
        return counter

    def count(self, key: int, version: int) -> bool:
        """Whether its time and size are to be taken."""
        counter = self.of(key, version)
        counter.count = count = counter.count + 1
        return count <= _TIMED or not count % _TIMED

    def produces_to(self, topic: str, version: int) -> Counter:
        """As `of`, for produces of one partition by the shortcut."""
        return self._produces.setdefault(topic, {}).setdefault(version, Counter())

    def repeated_produces(self, topic: str) -> int:
        """Those that `produces_to` has counted."""
        return sum(each.count for each in self._produces.get(topic, {}).values())

    def topic_deleted(self, topic: str) -> int:
        """What was counted by topic goes on to count by version; how many there were."""
        gone = self.repeated_produces(topic)
        for version, each in self._produces.pop(topic, {}).items():
            self.of(_PRODUCE, version).count += each.count
        return gone

    def count_errors(self, key: int, codes: Iterable[int]) -> None:
        for code in codes:
            place = key, ErrorCode(code)
            self.errors[place] = self.errors.get(place, 0) + 1

    def follower_fetched(self, version: int) -> None:
        self.follower_fetches[version] = self.follower_fetches.get(version, 0) + 1

    def times(self, key: int, *, is_follower: bool = False) -> RequestTimes:
        kind = _FOLLOWER_FETCH if is_follower else key
        found = self._times.get(kind)
        if found is None:
            found = self._times[kind] = RequestTimes()
        return found

    def all_times(self) -> Iterator[tuple[int, RequestTimes]]:
        """By API key; a Fetch is one whoever sent it."""
        for key in sorted(key for key in self._times if key != _FOLLOWER_FETCH):
            yield key, self.fetch_times() if key == _FETCH else self._times[key]

    def fetch_times(self) -> RequestTimes:
        return self.times(_FETCH).plus(self.times(_FETCH, is_follower=True))
