"""The controller in numbers, under Kafka's names; of one that is not active all are 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.metrics import Metrics

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_CONTROLLER = "kafka.controller:type=KafkaController,name="
_STATS = "kafka.controller:type=ControllerStats,name="
_EVENTS = "kafka.controller:type=ControllerEventManager,name="
_CHANNELS = "kafka.controller:type=ControllerChannelManager,name="


def measure_controller(metrics: Metrics, broker: Broker) -> None:
    controller, is_active = broker.controller, broker.controller.is_active
    topics = broker.metadata.image.topics.values() if is_active else ()
    partitions = [each for topic in topics for each in topic.partitions]
    for name, number in (
        ("ActiveControllerCount", int(is_active)),
        ("ControllerState", controller.state_number),
        ("OfflinePartitionsCount", sum(each.leader < 0 for each in partitions)),
        (
            "PreferredReplicaImbalanceCount",
            sum(each.leader != each.replicas[0] for each in partitions),
        ),
        ("GlobalTopicCount", len(topics)),
        ("GlobalPartitionCount", len(partitions)),
    ):
        metrics.gauge(f"{_CONTROLLER}{name}", _value(number))
    stats = controller.stats
    metrics.show(
        f"{_STATS}LeaderElectionRateAndTimeMs",
        stats.elections_ms,
        meaning="each time that brokers came or went",
    )
    metrics.counter(f"{_STATS}UncleanLeaderElectionsPerSec").count = stats.unclean_elections
    metrics.show(f"{_EVENTS}EventQueueTimeMs", stats.queued_ms)
    metrics.gauge(f"{_EVENTS}EventQueueSize", _value(controller.waiting_count))
    rows = [((str(each),), float(count)) for each, count in controller.unsent_counts().items()]
    metrics.gauges(f"{_CHANNELS}QueueSize", ("broker-id",), rows)


def _value(number: float) -> Callable[[], float]:
    return lambda: number
