"""What the group coordinator shows of itself, under Kafka's names."""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.state import GroupState
from ottla.metrics import Metrics

_METADATA = "kafka.coordinator.group:type=GroupMetadataManager,name="
_COORDINATOR = "kafka.server:type=group-coordinator-metrics,name="
_LOADS = "kafka.server:type=group-coordinator-metrics,name=partition-load-time-"


def meter(coordinator: GroupCoordinator, metrics: Metrics) -> None:
    """All are read when somebody looks; nothing is counted for them on the way of a request."""
    partitions, loads = coordinator.partitions, coordinator.loads
    metrics.gauge(
        f"{_METADATA}NumOffsets",
        lambda: sum(len(hosted.offsets.committed) for _, hosted in partitions.hosted()),
    )
    metrics.gauge(f"{_METADATA}NumGroups", lambda: sum(1 for _ in partitions.hosted()))
    for state in GroupState:
        metrics.gauge(f"{_METADATA}NumGroups{state.value}", _groups_in(coordinator, state))
    metrics.gauge(f"{_COORDINATOR}offset-commit-count", lambda: coordinator.committed_count)
    metrics.gauge(f"{_COORDINATOR}offset-expiration-count", lambda: coordinator.expired_count)
    metrics.gauge(f"{_COORDINATOR}offset-deletion-count", lambda: coordinator.deleted_count)
    metrics.gauge(f"{_LOADS}max", lambda: loads.longest_ms)
    metrics.gauge(f"{_LOADS}avg", lambda: loads.total_ms / max(1, loads.loaded_count))


def _groups_in(coordinator: GroupCoordinator, state: GroupState) -> Callable[[], float]:
    return lambda: sum(hosted.group.state is state for _, hosted in coordinator.partitions.hosted())
