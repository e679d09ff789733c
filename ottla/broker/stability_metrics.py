"""How far transactions hold readers back: under Kafka's names, and what Kafka does not tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.metrics import Metrics

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_LAG = "kafka.cluster:type=Partition,name=LastStableOffsetLag"
_LATE = "kafka.server:type=ReplicaManager,name=PartitionsWithLateTransactionsCount"
_OPEN = "ottla:type=OpenTransactions,name="


def measure_stability(metrics: Metrics, broker: Broker) -> None:
    """Of partitions without an open transaction nothing is told: there may be ten thousand."""
    unstable = broker.open_transactions.unstable()
    for each in unstable:
        labels = {"topic": each.partition.topic, "partition": str(each.partition.index)}
        metrics.gauge(_LAG, _value(each.lag), **labels)
    metrics.gauge(_LATE, _value(broker.open_transactions.late(unstable)))
    opened = [each for partition in unstable for each in partition.opened]
    began = [each.began_ms for each in opened if each.began_ms is not None]
    now_ms = broker.ports.clock.now_ms()
    metrics.gauge(f"{_OPEN}Count", _value(len(opened)))
    metrics.gauge(f"{_OPEN}OldestMs", _value(max(0, now_ms - min(began, default=now_ms))))
    waiting = sum(len(each.waiting) for each in unstable)
    metrics.gauge(f"{_OPEN}WaitingFetches", _value(waiting))


def _value(number: float) -> Callable[[], float]:
    return lambda: number
