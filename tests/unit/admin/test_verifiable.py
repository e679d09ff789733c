"""The verifiable clients tell what Kafka's tell, key by key and in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import IncomingRecord
from ottla.admin.producing import OnDelivery, OutgoingRecord, Receipt
from ottla.admin.verifiable import VerifiableConsumer, VerifiableProducer

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


class Told(list[tuple[str, list[tuple[str, Any]]]]):
    def __call__(self, name: str, what: Mapping[str, Any]) -> None:
        self.append((name, list(what.items())))


class Sender:
    def __init__(self, *receipts: Receipt) -> None:
        self.sent: list[OutgoingRecord] = []
        self._receipts = list(receipts)

    def send(self, record: OutgoingRecord, on_delivery: OnDelivery) -> None:
        self.sent.append(record)
        on_delivery(self._receipts.pop(0))

    def flush(self, timeout_s: float) -> int:
        return 0


def test_a_producer_tells_what_became_of_each_record() -> None:
    told, sender = Told(), Sender(Receipt(1, 7), Receipt(error="E", failure="too large"))
    producer = VerifiableProducer(sender, "orders", told)
    producer.send_next(0)
    producer.send_next(0)
    producer.tell_total(target=None, elapsed_s=0.5)
    success = [("key", None), ("value", "0"), ("offset", 7), ("topic", "orders"), ("partition", 1)]
    content = [("topic", "orders"), ("key", None), ("value", "1")]
    total = [("sent", 2), ("acked", 1), ("target_throughput", -1), ("avg_throughput", 2.0)]
    assert told == [
        ("producer_send_success", success),
        ("producer_send_error", [*content, ("exception", "E"), ("message", "too large")]),
        ("tool_data", total),
    ]
    assert (producer.sent, producer.acked, producer.failed) == (2, 1, 1)


def test_keys_repeat_values_have_the_prefix_and_times_go_on_from_the_first() -> None:
    sender = Sender(*[Receipt()] * 3)
    producer = VerifiableProducer(
        sender, "orders", Told(), value_prefix="7", repeating_keys=2, first_timestamp=1000
    )
    for elapsed_ms in (0, 5, 9):
        producer.send_next(elapsed_ms)
    assert [each.key for each in sender.sent] == [b"0", b"1", b"0"]
    assert [each.value for each in sender.sent] == [b"7.0", b"7.1", b"7.2"]
    assert [each.timestamp for each in sender.sent] == [1000, 1005, 1009]


def record(partition: TopicPartition, offset: int) -> IncomingRecord:
    return IncomingRecord(
        partition=partition,
        offset=offset,
        timestamp=None,
        is_append_time=False,
        key=None,
        value=b"v",
        headers=(),
    )


def test_a_consumer_tells_what_it_got_read_and_committed() -> None:
    told = Told()
    consumer = VerifiableConsumer(told, verbose=False)
    place = [("partitions", [{"topic": "orders", "partition": 0}])]
    consumer.assigned([FIRST])
    consumer.consumed([record(FIRST, 3), record(SECOND, 8), record(FIRST, 5)])
    consumer.revoked([FIRST])
    numbers = [
        {"topic": "orders", "partition": 0, "count": 2, "minOffset": 3, "maxOffset": 5},
        {"topic": "orders", "partition": 1, "count": 1, "minOffset": 8, "maxOffset": 8},
    ]
    assert told == [
        ("partitions_assigned", place),
        ("records_consumed", [("count", 3), ("partitions", numbers)]),
        ("partitions_revoked", place),
    ]


def test_each_record_is_told_on_request() -> None:
    told = Told()
    VerifiableConsumer(told, verbose=True).consumed([record(FIRST, 3)])
    content = [("key", None), ("value", "v"), ("topic", "orders"), ("partition", 0), ("offset", 3)]
    assert told[0] == ("record_data", content)


def test_a_commit_has_succeeded_or_says_why_not() -> None:
    told = Told()
    consumer = VerifiableConsumer(told, verbose=False)
    consumer.committed({FIRST: 6}, None)
    consumer.committed({FIRST: 6}, "rebalancing")
    offsets = ("offsets", [{"topic": "orders", "partition": 0, "offset": 6}])
    assert told == [
        ("offsets_committed", [offsets, ("success", True)]),
        ("offsets_committed", [offsets, ("success", False), ("error", "rebalancing")]),
    ]
