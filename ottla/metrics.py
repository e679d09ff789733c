"""What a broker counts, under Kafka's names. Counting is an increment; the rest waits for a scrape.

A metric is named as Kafka's JMX bean: `kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec`.
Prometheus sees domain, type and name joined by `_`, as the JMX exporter does it, and the bean's
other keys as labels; what Prometheus does not allow in a name becomes `_`. Kafka's rates are
counters here: `kafka_server_BrokerTopicMetrics_MessagesInPerSec_total{topic="orders"}`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, TypeVar

# prometheus_client takes 0.1 s to load, half of our start: it waits until somebody scrapes.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Floats throughout: they are compared faster with each other than with integers.
TIMES_MS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1e3, 2.5e3, 1e4)
SIZES_BYTES = tuple(4**power for power in range(4, 15))  # 256 bytes to 256 MiB

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, dict[str, str], float]


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

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

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
    members: dict[Labels, AnyMetric] = field(default_factory=dict)


class Metrics:
    """The metrics of one broker. Asking for the same name and labels again gives the same object.

    Ask once and keep the object: looking it up costs more than counting.
    """

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}

    def counter(self, bean: str, **labels: str) -> Counter:
        return self._member(bean, labels, Counter)

    def histogram(
        self, bean: str, *, bounds: Sequence[float] = TIMES_MS, **labels: str
    ) -> Histogram:
        return self._member(bean, labels, Histogram, bounds)

    def gauge(self, bean: str, read: Callable[[], float], **labels: str) -> None:
        """Asking again puts the new callable in the place of the old."""
        self._member(bean, labels, Gauge, read).read = read

    def show(self, bean: str, histogram: Histogram) -> None:
        """One that lives longer than these metrics."""
        name, bean, key = _parse(bean, {})
        self._families[name] = _Family(name, bean, Histogram.kind, {key: histogram})

    def forget(self, **labels: str) -> None:
        """Drops the metrics that have all these labels, as of a topic that is deleted."""
        wanted = {_legal(key): value for key, value in labels.items()}.items()
        assert wanted, "forget what? name a label at least"
        for family in self._families.values():
            for key in [key for key in family.members if wanted <= dict(key).items()]:
                del family.members[key]

    def render(self) -> bytes:
        """Prometheus' text format, to be sent as CONTENT_TYPE."""
        from prometheus_client import Metric, generate_latest  # noqa: PLC0415

        collected = []
        for family in self._families.values():
            metric = Metric(family.name, family.bean, family.kind)
            for key, member in family.members.items():
                labels = dict(key)
                for suffix, more, value in member.samples():
                    metric.add_sample(family.name + suffix, labels | more, value)
            collected.append(metric)
        collector: Any = SimpleNamespace(collect=lambda: collected)
        return generate_latest(collector)

    def _member(self, bean: str, labels: dict[str, str], kind: type[M], *new: Any) -> M:
        name, bean, key = _parse(bean, labels)
        family = self._families.setdefault(name, _Family(name, bean, kind.kind))
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
