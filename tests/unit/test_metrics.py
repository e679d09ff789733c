"""Counting, and what Prometheus reads of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ottla.metrics import SIZES_BYTES, Histogram, Metrics, Row

MESSAGES_IN = "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec"


def scraped(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """By name and labels, as Prometheus' own parser understands it."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def test_a_rate_is_a_counter_under_kafkas_name() -> None:
    metrics = Metrics()
    metrics.counter(MESSAGES_IN).count += 5
    metrics.counter(MESSAGES_IN, topic="orders").count += 3
    assert metrics.render().decode().splitlines() == [
        "# HELP kafka_server_BrokerTopicMetrics_MessagesInPerSec_total " + MESSAGES_IN,
        "# TYPE kafka_server_BrokerTopicMetrics_MessagesInPerSec_total counter",
        "kafka_server_BrokerTopicMetrics_MessagesInPerSec_total 5.0",
        'kafka_server_BrokerTopicMetrics_MessagesInPerSec_total{topic="orders"} 3.0',
    ]


def test_the_same_name_and_labels_are_the_same_counter() -> None:
    metrics = Metrics()
    orders = metrics.counter(MESSAGES_IN, topic="orders")
    assert metrics.counter(MESSAGES_IN, topic="orders") is orders
    assert metrics.counter(f"{MESSAGES_IN},topic=orders") is orders
    assert metrics.counter(MESSAGES_IN, topic="payments") is not orders


@pytest.mark.parametrize(
    ("bean", "name", "labels"),
    [
        (
            "kafka.server:type=DelayedOperationPurgatory,delayedOperation=Fetch,name=PurgatorySize",
            "kafka_server_DelayedOperationPurgatory_PurgatorySize",
            (("delayedOperation", "Fetch"),),
        ),
        (
            "kafka.log:type=LogCleaner,name=cleaner-recopy-percent",
            "kafka_log_LogCleaner_cleaner_recopy_percent",
            (),
        ),
        (
            "kafka.controller:type=ControllerChannelManager,name=QueueSize,broker-id=1",
            "kafka_controller_ControllerChannelManager_QueueSize",
            (("broker_id", "1"),),
        ),
    ],
)
def test_a_beans_other_keys_become_labels(
    bean: str, name: str, labels: tuple[tuple[str, str], ...]
) -> None:
    metrics = Metrics()
    metrics.gauge(bean, lambda: 7)
    assert scraped(metrics) == {(name, labels): 7}


def test_a_gauge_is_read_at_each_scrape_and_can_be_replaced() -> None:
    metrics, waiting = Metrics(), [1, 2]
    bean = "kafka.network:type=RequestChannel,name=RequestQueueSize"
    name = ("kafka_network_RequestChannel_RequestQueueSize", ())
    metrics.gauge(bean, lambda: len(waiting))
    assert scraped(metrics) == {name: 2}
    waiting.append(3)
    assert scraped(metrics) == {name: 3}
    metrics.gauge(bean, lambda: 0.5)
    assert scraped(metrics) == {name: 0.5}


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    metrics = Metrics()
    times = metrics.histogram(
        "kafka.network:type=RequestMetrics,name=TotalTimeMs", bounds=(1, 10), request="Produce"
    )
    for value in (0, 1, 1.5, 10, 11, 1_000):
        times.observe(value)
    name, labels = "kafka_network_RequestMetrics_TotalTimeMs", ("request", "Produce")
    assert (times.count, times.sum) == (6, 1023.5)
    assert scraped(metrics) == {
        (f"{name}_bucket", (("le", "1.0"), labels)): 2,
        (f"{name}_bucket", (("le", "10.0"), labels)): 4,
        (f"{name}_bucket", (("le", "+Inf"), labels)): 6,
        (f"{name}_count", (labels,)): 6,
        (f"{name}_sum", (labels,)): 1023.5,
    }


def test_sizes_have_bounds_from_a_small_request_to_a_huge_one() -> None:
    sizes = Histogram(SIZES_BYTES)
    assert (SIZES_BYTES[0], SIZES_BYTES[-1]) == (256, 256 * 1024 * 1024)
    sizes.observe(10**12)
    assert sizes.count == 1


def test_the_metrics_of_a_deleted_topic_are_forgotten() -> None:
    metrics = Metrics()
    bean = "kafka.log:type=Log,name=Size"
    for topic in ("orders", "payments"):
        metrics.counter(MESSAGES_IN, topic=topic)
        metrics.gauge(bean, lambda: 1, topic=topic, partition="0")
        metrics.gauge(bean, lambda: 1, topic=topic, partition="1")
    metrics.forget(topic="orders")
    metrics.forget(topic="payments", partition="0")
    name = "kafka_server_BrokerTopicMetrics_MessagesInPerSec_total"
    assert scraped(metrics) == {
        (name, (("topic", "payments"),)): 0,
        ("kafka_log_Log_Size", (("partition", "1"), ("topic", "payments"))): 1,
    }


def test_a_label_may_hold_anything() -> None:
    metrics = Metrics()
    odd = 'quo"te \\ new\nline ü'
    metrics.gauge("kafka.server:type=Request,name=request-time", lambda: 1, client_id=odd)
    assert scraped(metrics) == {("kafka_server_Request_request_time", (("client_id", odd),)): 1}


def test_a_name_that_is_no_bean_or_of_another_kind_is_our_bug() -> None:
    metrics = Metrics()
    with pytest.raises(AssertionError, match="not domain:type="):
        metrics.counter("messages_in")
    metrics.counter(MESSAGES_IN)
    with pytest.raises(AssertionError, match="is a counter, not a gauge"):
        metrics.gauge(MESSAGES_IN, lambda: 1, topic="orders")


def test_many_of_one_name_are_told_beside_their_total() -> None:
    metrics = Metrics()
    rows = [((), 7.0), (("orders", 'a"b'), 3), (("payments", "c"), 4)]
    metrics.counters(MESSAGES_IN, ("topic", "client-id"), rows, meaning="of those who ask")
    name = "kafka_server_BrokerTopicMetrics_MessagesInPerSec_total"
    assert metrics.render().decode().splitlines()[0] == (
        f"# HELP {name} {MESSAGES_IN}: of those who ask"
    )
    assert scraped(metrics) == {
        (name, ()): 7,
        (name, (("client_id", 'a"b'), ("topic", "orders"))): 3,
        (name, (("client_id", "c"), ("topic", "payments"))): 4,
    }


def test_ten_thousand_partitions_are_told_in_pieces() -> None:
    metrics, asked = Metrics(), 0

    def rows() -> Iterator[Row]:
        nonlocal asked
        for index in range(10_000):
            asked = index + 1
            yield ("orders", str(index)), index

    metrics.gauges("kafka.log:type=Log,name=Size", ("topic", "partition"), rows())
    pieces = metrics.pieces()
    first = next(pieces)
    assert asked < 1_000
    assert first.count(b"\n") == 300
    whole = first + b"".join(pieces)
    assert whole.decode().splitlines()[-1] == (
        'kafka_log_Log_Size{topic="orders",partition="9999"} 9999.0'
    )


def test_what_lives_longer_is_shown_with_its_labels() -> None:
    metrics, times = Metrics(), Histogram((1.0,))
    times.observe(0.5)
    bean = "kafka.network:type=RequestMetrics,name=TotalTimeMs"
    metrics.show(bean, times, request="Fetch")
    metrics.show(bean, Histogram((1.0,)), request="Produce")
    found = scraped(metrics)
    name = "kafka_network_RequestMetrics_TotalTimeMs_count"
    assert found[name, (("request", "Fetch"),)] == 1
    assert found[name, (("request", "Produce"),)] == 0
