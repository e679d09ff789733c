"""Groups in numbers: under Kafka's names, and why they rebalanced under our own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.coordinators.groups.state import GroupState
from ottla.metrics import Metrics

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_GROUPS = "kafka.coordinator.group:type=GroupMetadataManager,name="
_COORDINATOR = "kafka.server:type=group-coordinator-metrics,name="
_REBALANCES = "ottla:type=Rebalances,name="


def measure_groups(metrics: Metrics, broker: Broker) -> None:
    offsets = 0
    states = Counter(dict.fromkeys(GroupState, 0))
    for _, hosted in broker.groups.partitions.hosted():
        states[hosted.group.state] += 1
        offsets += len(hosted.offsets.committed)
    metrics.gauge(f"{_GROUPS}NumGroups", _value(states.total()))
    metrics.gauge(f"{_GROUPS}NumOffsets", _value(offsets))
    for state, count in states.items():
        metrics.gauge(f"{_GROUPS}NumGroups{state.value}", _value(count))
    for name, count in (
        ("offset-commit-count", broker.groups.committed_count),
        ("offset-expiration-count", broker.groups.expired_count),
        ("offset-deletion-count", broker.groups.deleted_count),
        ("group-completed-rebalance-count", sum(broker.rebalances.ended_count.values())),
    ):
        metrics.counter(f"{_COORDINATOR}{name}").count = count
    _count_rebalances(metrics, broker)


def _count_rebalances(metrics: Metrics, broker: Broker) -> None:
    history = broker.rebalances
    for cause, count in history.began_count.items():
        metrics.counter(f"{_REBALANCES}Began", cause=cause.value).count = count
    for outcome, count in history.ended_count.items():
        metrics.counter(f"{_REBALANCES}Ended", outcome=outcome.value).count = count
    metrics.counter(f"{_REBALANCES}StoodStillMs").count = history.stood_still_ms
    metrics.counter(f"{_REBALANCES}PartitionsMoved").count = history.moved_count


def _value(number: float) -> Callable[[], float]:
    return lambda: number
