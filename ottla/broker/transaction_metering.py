"""Transactions in numbers, under Kafka's names; read when somebody looks."""

from __future__ import annotations

from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.metrics import Metrics

_MARKERS = "kafka.coordinator.transaction:type=TransactionMarkerChannelManager,name="
_LOADS = "kafka.server:type=transaction-coordinator-metrics,name=partition-load-time-"


def measure_transactions(metrics: Metrics, coordinator: TransactionCoordinator) -> None:
    loads = coordinator.loads
    metrics.gauge(
        f"{_MARKERS}UnknownDestinationQueueSize", lambda: coordinator.unknown_destination_count
    )
    metrics.gauge(f"{_MARKERS}LogAppendRetryQueueSize", lambda: coordinator.append_retry_count)
    metrics.gauge(f"{_LOADS}max", lambda: loads.longest_ms)
    metrics.gauge(f"{_LOADS}avg", lambda: loads.total_ms / max(1, loads.loaded_count))
