"""What the parts of a broker have counted, under Kafka's names, gathered when somebody scrapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.controller_metering import measure_controller
from ottla.broker.group_metering import measure_groups
from ottla.broker.partition_metering import measure_partitions
from ottla.broker.quota_metrics import measure_quotas
from ottla.broker.request_metering import measure_requests
from ottla.broker.stability_metrics import measure_stability
from ottla.broker.traffic_metering import count_traffic
from ottla.broker.transaction_metering import measure_transactions
from ottla.metrics import Metrics

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_REPLICAS = "kafka.server:type=ReplicaManager,name="
_PURGATORY = "kafka.server:type=DelayedOperationPurgatory,name="
_SESSIONS = "kafka.server:type=FetchSessionCache,name="
_CLEANER = "kafka.log:type=LogCleanerManager,name="
_LOGS = "kafka.log:type=LogManager,name="
_NETWORK = "kafka.network:type=SocketServer,name="
_HANDLERS = "kafka.server:type=KafkaRequestHandlerPool,name="
_ONE_LOOP = (
    "from 0 to 1, of the last minute: one event loop does both; where its thread waits for a disk"
    " it is idle, too"
)
_SOCKETS = "kafka.server:type=socket-server-metrics,name="


def gather(broker: Broker, *, with_partitions: bool = True) -> Metrics:
    """A scrape costs; what is counted on the way does not know of it."""
    metrics = Metrics()
    count_traffic(metrics, broker)
    measure_requests(metrics, broker.services.requests)
    _measure_replicas(metrics, broker)
    _measure_directories(metrics, broker)
    _measure_cleaner(metrics, broker)
    measure_controller(metrics, broker)
    measure_groups(metrics, broker.groups, broker.rebalances)
    measure_transactions(metrics, broker.transactions)
    for purgatory in broker.services.purgatories():
        name = purgatory.name
        watched, delayed = purgatory.watched, purgatory.delayed
        metrics.gauge(f"{_PURGATORY}PurgatorySize", _value(watched), delayedOperation=name)
        metrics.gauge(f"{_PURGATORY}NumDelayedOperations", _value(delayed), delayedOperation=name)
    sessions = broker.services.sessions
    metrics.gauge(f"{_SESSIONS}NumIncrementalFetchSessions", _value(len(sessions)))
    partitions = _value(sessions.partition_count)
    metrics.gauge(f"{_SESSIONS}NumIncrementalFetchPartitionsCached", partitions)
    evictions = metrics.counter(f"{_SESSIONS}IncrementalFetchSessionEvictionsPerSec")
    evictions.count = sessions.evictions
    _measure_network(metrics, broker)
    measure_quotas(metrics, broker)
    measure_stability(metrics, broker)
    metrics.gauge("ottla:type=EventLoop,name=LongestStallMs", _value(broker.stalls.longest_ms))
    metrics.show("ottla:type=EventLoop,name=StallMs", broker.stalls.times_ms)
    if with_partitions:
        measure_partitions(metrics, broker)
    return metrics


def _value(number: float) -> Callable[[], float]:
    return lambda: number


def _measure_replicas(metrics: Metrics, broker: Broker) -> None:
    held = list(broker.replicas.partitions.values())
    led = [partition for partition in held if partition.is_leader]
    lagging = [each for each in led if len(each.isr) < len(each.replicas)]
    below = [each for each in led if each.is_under_min_insync]
    offline = [each for each in held if each.log is None]
    for name, found in (
        ("PartitionCount", held),
        ("LeaderCount", led),
        ("UnderReplicatedPartitions", lagging),
        ("UnderMinIsrPartitionCount", below),
        ("OfflineReplicaCount", offline),
    ):
        metrics.gauge(f"{_REPLICAS}{name}", _value(len(found)))
    metrics.counter(f"{_REPLICAS}IsrShrinksPerSec").count = broker.replicas.isr_shrinks
    metrics.counter(f"{_REPLICAS}IsrExpandsPerSec").count = broker.replicas.isr_expands


def _measure_directories(metrics: Metrics, broker: Broker) -> None:
    online, offline = broker.directories.online, broker.directories.offline
    metrics.gauge(f"{_LOGS}OfflineLogDirectoryCount", _value(len(offline)))
    rows = [((path,), float(path in offline)) for path in sorted({**online, **offline})]
    metrics.gauges(f"{_LOGS}LogDirectoryOffline", ("logDirectory",), rows)


def _measure_cleaner(metrics: Metrics, broker: Broker) -> None:
    compactor, now_ms = broker.compactor, broker.ports.clock.now_ms()
    copied, dirtiest = 100 * compactor.copied_ratio, 100 * compactor.dirtiest_ratio
    metrics.gauge("kafka.log:type=LogCleaner,name=cleaner-recopy-percent", _value(copied))
    metrics.gauge(f"{_CLEANER}max-dirty-percent", _value(dirtiest))
    if compactor.looked_ms is not None:
        since_ms = max(0, now_ms - compactor.looked_ms)
        metrics.gauge(f"{_CLEANER}time-since-last-run-ms", _value(since_ms))


def _measure_network(metrics: Metrics, broker: Broker) -> None:
    metrics.gauge(f"{_SOCKETS}connection-count", _value(len(broker.server.connections)))
    memory, unlimited = broker.server.memory, 2**63 - 1  # Kafka's word for no limit
    left = memory.max_bytes - memory.used_bytes if memory.max_bytes >= 0 else unlimited
    metrics.gauge(f"{_NETWORK}MemoryPoolUsed", _value(memory.used_bytes))
    metrics.gauge(f"{_NETWORK}MemoryPoolAvailable", _value(max(0, left)))
    idle = _value(broker.idleness.share())
    metrics.gauge(f"{_NETWORK}NetworkProcessorAvgIdlePercent", idle, meaning=_ONE_LOOP)
    metrics.gauge(f"{_HANDLERS}RequestHandlerAvgIdlePercent", idle, meaning=_ONE_LOOP)
