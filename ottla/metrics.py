"""What a broker counts, under Kafka's names. Counting is an increment; the rest waits for a scrape.

A metric is named as Kafka's JMX bean: `kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec`.
Prometheus sees domain, type and name joined by `_`, as the JMX exporter does it, and the bean's
other keys as labels; what Prometheus does not allow in a name becomes `_`. Kafka's rates are
counters here: `kafka_server_BrokerTopicMetrics_MessagesInPerSec_total{topic="orders"}`.

The text is made here, in pieces: a broker may hold ten thousand partitions, and whoever serves it
has others to serve.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeVar

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Floats throughout: they are compared faster with each other than with integers.
TIMES_MS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1e3, 2.5e3, 1e4)
SIZES_BYTES = tuple(4**power for power in range(4, 15))  # 256 bytes to 256 MiB
_LINES_IN_A_PIECE = 300  # about a millisecond

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, dict[str, str], float]
# The values of a row's labels, in the order of their names, and its number. Without values it is
# the total of the others.
Row = tuple[tuple[str, ...], float]


class Counter:
    """What only grows, and so also a rate. On a hot path: `counter.count += 1`."""

    __slots__ = ("count",)
    kind = "counter"

    def __init__(self) -> None:
        self.count = 0

    def samples(self) -> Iterator[Sample]:
        yield "_total", {}, self.count


class Gauge:
    """What is read when somebody looks."""

    __slots__ = ("read",)
    kind = "gauge"

    def __init__(self, read: Callable[[], float]) -> None:
        self.read = read

    def samples(self) -> Iterator[Sample]:
        yield "", {}, self.read()


class Histogram:
    """How often which size came. A bucket counts what is at most its bound."""

    __slots__ = ("_bounds", "_counts", "sum")
    kind = "histogram"

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    @property
    def count(self) -> int:
        return sum(self._counts)

    def observe(self, value: float, *, times: int = 1) -> None:
        self._counts[bisect_left(self._bounds, value)] += times
        self.sum += value * times

    def plus(self, other: Histogram) -> Histogram:
        """A new one that has seen what both have."""
        assert self._bounds == other._bounds, "they do not count the same sizes"
        both = Histogram(self._bounds)
        both._counts = [sum(pair) for pair in zip(self._counts, other._counts, strict=True)]
        both.sum = self.sum + other.sum
        return both

    def samples(self) -> Iterator[Sample]:
        bounds = [*map(str, map(float, self._bounds)), "+Inf"]
        for bound, count in zip(bounds, accumulate(self._counts), strict=True):
            yield "_bucket", {"le": bound}, count
        yield "_count", {}, self.count
        yield "_sum", {}, self.sum


AnyMetric = Counter | Gauge | Histogram
M = TypeVar("M", Counter, Gauge, Histogram)


@dataclass(slots=True)
class _Family:
    """All metrics of one name, which differ in their labels."""

    name: str
    bean: str
    kind: str
    meaning: str = ""
    members: dict[Labels, AnyMetric] = field(default_factory=dict)
    rows: tuple[tuple[str, ...], Iterable[Row]] = ((), ())

    def lines(self) -> Iterator[str]:
        name = f"{self.name}_total" if self.kind == Counter.kind else self.name
        meaning = f": {self.meaning}" if self.meaning else ""
        yield f"# HELP {name} {self.bean}{meaning}\n"
        yield f"# TYPE {name} {self.kind}\n"
        for key, member in self.members.items():
            labels = dict(key)
            for suffix, more, value in member.samples():
                yield f"{self.name}{suffix}{_labelled(labels | more)} {float(value)}\n"
        label_names, rows = self.rows
        form = name + "{" + ",".join(f'{each}="%s"' for each in label_names) + "} "
        for values, number in rows:
            head = form % tuple(map(_escaped, values)) if values else f"{name} "
            yield f"{head}{float(number)}\n"


class Metrics:
    """The metrics of one broker. Asking for the same name and labels again gives the same object.

    Ask once and keep the object: looking it up costs more than counting. A name may be given a
    meaning where it says less, or more, than with Kafka; it stands in the help text.
    """

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}

    def counter(self, bean: str, *, meaning: str = "", **labels: str) -> Counter:
        return self._member(bean, meaning, labels, Counter)

    def histogram(
        self, bean: str, *, bounds: Sequence[float] = TIMES_MS, meaning: str = "", **labels: str
    ) -> Histogram:
        return self._member(bean, meaning, labels, Histogram, bounds)

    def gauge(
        self, bean: str, read: Callable[[], float], *, meaning: str = "", **labels: str
    ) -> None:
        """Asking again puts the new callable in the place of the old."""
        self._member(bean, meaning, labels, Gauge, read).read = read

    def show(self, bean: str, histogram: Histogram, *, meaning: str = "", **labels: str) -> None:
        """One that lives longer than these metrics."""
        self._member(bean, meaning, labels, Histogram, ())
        name, _, key = _parse(bean, labels)
        self._families[name].members[key] = histogram

    def counters(
        self, bean: str, label_names: tuple[str, ...], rows: Iterable[Row], *, meaning: str = ""
    ) -> None:
        """Many of one name; they are asked for while the text is made, piece by piece."""
        self._many(bean, meaning, Counter.kind, label_names, rows)

    def gauges(
        self, bean: str, label_names: tuple[str, ...], rows: Iterable[Row], *, meaning: str = ""
    ) -> None:
        """As `counters`."""
        self._many(bean, meaning, Gauge.kind, label_names, rows)

    def forget(self, **labels: str) -> None:
        """Drops the metrics that have all these labels, as of a topic that is deleted."""
        wanted = {_legal(key): value for key, value in labels.items()}.items()
        assert wanted, "forget what? name a label at least"
        for family in self._families.values():
            for key in [key for key in family.members if wanted <= dict(key).items()]:
                del family.members[key]

    def pieces(self) -> Iterator[bytes]:
        """Prometheus' text format, to be sent as CONTENT_TYPE. Between two pieces all may wait."""
        lines: list[str] = []
        for family in self._families.values():
            for line in family.lines():
                lines.append(line)
                if len(lines) == _LINES_IN_A_PIECE:
                    yield "".join(lines).encode()
                    lines.clear()
        yield "".join(lines).encode()

    def render(self) -> bytes:
        """All pieces at once."""
        return b"".join(self.pieces())

    def _many(
        self,
        bean: str,
        meaning: str,
        kind: str,
        label_names: tuple[str, ...],
        rows: Iterable[Row],
    ) -> None:
        name, bean, key = _parse(bean, {})
        assert not key, f"{bean}: each row has its labels"
        names = tuple(map(_legal, label_names))
        self._families[name] = _Family(name, bean, kind, meaning, rows=(names, rows))

    def _member(
        self, bean: str, meaning: str, labels: dict[str, str], kind: type[M], *new: Any
    ) -> M:
        name, bean, key = _parse(bean, labels)
        family = self._families.setdefault(name, _Family(name, bean, kind.kind, meaning))
        member = family.members.get(key)
        if member is None:
            assert family.kind == kind.kind, f"{bean} is a {family.kind}, not a {kind.kind}"
            family.members[key] = member = kind(*new)
        assert isinstance(member, kind), f"{bean} is a {family.kind}, not a {kind.kind}"
        return member


def _parse(bean: str, labels: dict[str, str]) -> tuple[str, str, Labels]:
    """Prometheus' name, the bean without labels, and the labels."""
    domain, colon, listed = bean.partition(":")
    properties = dict(pair.split("=", 1) for pair in listed.split(",")) if colon else {}
    assert {"type", "name"} <= properties.keys(), f"{bean}: not domain:type=...,name=..."
    group, name = properties.pop("type"), properties.pop("name")
    key = tuple(sorted((_legal(label), value) for label, value in (properties | labels).items()))
    return _legal(f"{domain}_{group}_{name}"), f"{domain}:type={group},name={name}", key


def _legal(name: str) -> str:
    return re.sub("[^A-Za-z0-9_]", "_", name)


def _labelled(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escaped(labels[key])}"' for key in sorted(labels)) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
