"""Groups in numbers: under Kafka's names, and why they rebalanced under our own."""

from __future__ import annotations

from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.coordinators.groups.metering import meter
from ottla.metrics import Metrics

_COMPLETED = "kafka.server:type=group-coordinator-metrics,name=group-completed-rebalance-count"
_REBALANCES = "ottla:type=Rebalances,name="


def measure_groups(
    metrics: Metrics, coordinator: GroupCoordinator, history: RebalanceHistory
) -> None:
    meter(coordinator, metrics)
    metrics.counter(_COMPLETED).count = sum(history.ended_count.values())
    for cause, count in history.began_count.items():
        metrics.counter(f"{_REBALANCES}Began", cause=cause.value).count = count
    for outcome, count in history.ended_count.items():
        metrics.counter(f"{_REBALANCES}Ended", outcome=outcome.value).count = count
    metrics.counter(f"{_REBALANCES}StoodStillMs").count = history.stood_still_ms
    metrics.counter(f"{_REBALANCES}PartitionsMoved").count = history.moved_count
