"""What topics took in and gave out, under Kafka's names: each of them, and all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ottla.metrics import Metrics, Row
from ottla.replication.traffic import TopicTraffic

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_TOPIC = "kafka.server:type=BrokerTopicMetrics,name="
_COUNTED = {
    "MessagesInPerSec": "messages_in",
    "BytesInPerSec": "bytes_in",
    "BytesOutPerSec": "bytes_out",
    "BytesRejectedPerSec": "bytes_rejected",
    "TotalFetchRequestsPerSec": "fetches",
    "FailedFetchRequestsPerSec": "failed_fetches",
    "FailedProduceRequestsPerSec": "failed_produces",
    "FetchMessageConversionsPerSec": "messages_read_old",
    "ProduceMessageConversionsPerSec": "messages_written_old",
}
_WITHOUT_LABEL = "without a topic: all of them, also those deleted since the start"
_MENDABLE = f"{_WITHOUT_LABEL}; not those that a client is told of and can mend"
_MEANINGS = {
    "TotalFetchRequestsPerSec": f"{_WITHOUT_LABEL}; counted for each partition that is asked for",
    "FailedFetchRequestsPerSec": _MENDABLE,
    "FailedProduceRequestsPerSec": _MENDABLE,
}


def count_traffic(metrics: Metrics, broker: Broker) -> None:
    traffic, requests = broker.replicas.traffic, broker.services.requests
    total = traffic.total()
    for name, attribute in _COUNTED.items():
        meaning = _MEANINGS.get(name, _WITHOUT_LABEL)
        rows = _rows(traffic.by_topic, total, _reader(attribute))
        metrics.counters(f"{_TOPIC}{name}", ("topic",), rows, meaning=meaning)

    def produces(topic: str, counted: TopicTraffic) -> int:
        return counted.produces + requests.repeated_produces(topic)

    total.produces += sum(map(requests.repeated_produces, traffic.by_topic))
    metrics.counters(
        f"{_TOPIC}TotalProduceRequestsPerSec",
        ("topic",),
        _rows(traffic.by_topic, total, produces),
        meaning=f"{_WITHOUT_LABEL}; counted for each partition that is written to",
    )
    replicated = metrics.counter(f"{_TOPIC}ReplicationBytesOutPerSec")
    replicated.count = traffic.replication_bytes_out


def _reader(attribute: str) -> Callable[[str, TopicTraffic], int]:
    def read(_: str, counted: TopicTraffic) -> int:
        count: int = getattr(counted, attribute)
        return count

    return read


def _rows(
    by_topic: dict[str, TopicTraffic],
    total: TopicTraffic,
    read: Callable[[str, TopicTraffic], int],
) -> Iterator[Row]:
    yield (), read("", total)
    for topic, counted in list(by_topic.items()):
        yield (topic,), read(topic, counted)
