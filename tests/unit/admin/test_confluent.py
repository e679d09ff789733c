"""The door to confluent-kafka, with a library in its place that does what the real one does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ottla.admin.cluster import TopicPartition
from ottla.admin.confluent import ClientFailed, ConfluentSender, ConfluentSource
from ottla.admin.consuming import EndReached, IncomingRecord
from ottla.admin.producing import OutgoingRecord, Receipt

RECORD = OutgoingRecord(b"k", b"v", (("a", b"1"),))


class FakeError:
    def __init__(self, code: int) -> None:
        self._code = code

    def code(self) -> int:
        return self._code

    def name(self) -> str:
        return f"E{self._code}"

    def str(self) -> str:
        return f"error {self._code}"


class FakeException(Exception):
    pass


class FakeProducer:
    """Full when first asked; a value of `refuse` is refused at once, one of `fail` later."""

    def __init__(self, settings: dict[str, Any]) -> None:
        if "bad" in settings:
            raise FakeException(FakeError(1))
        self.settings = settings
        self.sent: list[dict[str, Any]] = []
        self._is_full = True
        self._reports: list[Callable[[], None]] = []

    def produce(self, topic: str, **record: Any) -> None:
        if self._is_full:
            raise BufferError
        if record["value"] == b"refuse":
            raise FakeException(FakeError(10))
        self.sent.append({"topic": topic, **record})
        failure = FakeError(7) if record["value"] == b"fail" else None
        self._reports.append(lambda: record["on_delivery"](failure, FakeMessage()))

    def poll(self, timeout_s: float) -> None:
        self._is_full = False

    def flush(self, timeout_s: float) -> int:
        for report in self._reports:
            report()
        return 0


class FakeMessage:
    def __init__(self, error: int | None = None, timestamp: tuple[int, int] = (1, 99)) -> None:
        self._error = error
        self._timestamp = timestamp

    def topic(self) -> str:
        return "orders"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return 42

    def key(self) -> bytes | None:
        return None

    def value(self) -> bytes | None:
        return b"v"

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return None

    def latency(self) -> float:
        return 0.25

    def __len__(self) -> int:
        return 1

    def timestamp(self) -> tuple[int, int]:
        return self._timestamp

    def error(self) -> FakeError | None:
        return None if self._error is None else FakeError(self._error)


class FakeConsumer:
    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.polls: list[list[FakeMessage]] = []
        self.assigned: list[tuple[str, int, int]] = []
        self.stored: list[tuple[str, int, int]] = []
        self.refused: dict[int, int] = {}

    def consume(self, *, num_messages: int, timeout: float) -> list[FakeMessage]:
        return self.polls.pop(0)

    def assign(self, places: list[tuple[str, int, int]]) -> None:
        self.assigned = places

    def subscribe(self, topics: list[str], **listeners: Callable[..., None]) -> None:
        self.subscribed, self.listeners = topics, listeners

    def store_offsets(self, *, offsets: list[tuple[str, int, int]]) -> None:
        if offsets[0][1] in self.refused:
            raise FakeException(FakeError(self.refused[offsets[0][1]]))
        self.stored += offsets

    def commit(self, *, offsets: list[tuple[str, int, int]], asynchronous: bool) -> None:
        assert not asynchronous
        if offsets[0][1] in self.refused:
            raise FakeException(FakeError(self.refused[offsets[0][1]]))
        self.stored += offsets

    def assignment(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(topic=place[0], partition=place[1]) for place in self.assigned]


LIBRARY = SimpleNamespace(
    Producer=FakeProducer,
    Consumer=FakeConsumer,
    KafkaException=FakeException,
    KafkaError=SimpleNamespace(_PARTITION_EOF=-191, _ALL_BROKERS_DOWN=-187, _STATE=-172),
    TopicPartition=lambda *place: place,
    TIMESTAMP_NOT_AVAILABLE=0,
    TIMESTAMP_LOG_APPEND_TIME=2,
)


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", LIBRARY)


def test_a_full_queue_is_waited_for_and_the_record_sent_whole() -> None:
    sender = ConfluentSender("orders", None, {"acks": "all"})
    heard: list[Receipt] = []
    sender.send(RECORD._replace(timestamp=7), heard.append)
    (sent,) = sender._producer.sent
    assert sent["timestamp"] == 7
    assert (sent["topic"], sent["partition"]) == ("orders", -1)
    assert (sent["key"], sent["value"], sent["headers"]) == (b"k", b"v", [("a", b"1")])
    assert sender.flush(1) == 0
    assert heard == [Receipt(partition=3, offset=42, latency_ms=250.0)]
    assert sender._producer.settings["acks"] == "all"


def test_records_refused_at_once_or_later_are_told_in_words() -> None:
    sender = ConfluentSender("orders", 5, {})
    heard: list[Receipt] = []
    sender.send(RECORD._replace(value=b"fail"), heard.append)
    sender.send(RECORD._replace(value=b"refuse"), heard.append)
    sender.flush(1)
    assert [each.failure for each in heard] == ["error 10", "error 7"]
    assert [each.error for each in heard] == ["E10", "E7"]
    assert sender._producer.sent[0]["partition"] == 5


def test_settings_that_the_library_refuses_are_told() -> None:
    with pytest.raises(ClientFailed, match="error 1"):
        ConfluentSender("orders", None, {"bad": 1})


def source(*messages: FakeMessage) -> tuple[ConfluentSource, list[str]]:
    troubles: list[str] = []
    made = ConfluentSource({"group.id": "g"}, troubles.append)
    made._consumer.polls = [list(messages)]
    return made, troubles


def test_messages_become_records_and_ends() -> None:
    found = source(FakeMessage(), FakeMessage(error=-191), FakeMessage(timestamp=(0, 0)))[0].poll(1)
    partition = TopicPartition("orders", 3)
    record = IncomingRecord(
        partition=partition,
        offset=42,
        timestamp=99,
        is_append_time=False,
        key=None,
        value=b"v",
        headers=(),
    )
    assert found[:2] == [record, EndReached(partition)]
    assert isinstance(found[2], IncomingRecord)
    assert found[2].timestamp is None


def test_another_error_ends_the_reading() -> None:
    with pytest.raises(ClientFailed, match="error 1"):
        source(FakeMessage(error=1))[0].poll(1)


def test_only_the_loss_of_all_brokers_is_worth_a_word() -> None:
    made, troubles = source()
    hear = made._consumer.settings["error_cb"]
    hear(FakeError(-195))
    hear(FakeError(-187))
    assert troubles == ["error -187"]


def test_partitions_are_assigned_with_their_offsets() -> None:
    made, _ = source()
    made.assign({TopicPartition("orders", 0): 5})
    assert made._consumer.assigned == [("orders", 0, 5)]
    assert made.assigned() == [TopicPartition("orders", 0)]


def test_members_hear_what_they_get_and_lose() -> None:
    made, _ = source()
    heard: list[tuple[str, object]] = []
    made.subscribe(
        "orders",
        on_assigned=lambda partitions: heard.append(("got", partitions)),
        on_revoked=lambda partitions: heard.append(("lost", partitions)),
    )
    places = [SimpleNamespace(topic="orders", partition=1)]
    made._consumer.listeners["on_assign"](None, places)
    made._consumer.listeners["on_revoke"](None, places)
    assert made._consumer.subscribed == ["orders"]
    assert heard == [(word, [TopicPartition("orders", 1)]) for word in ("got", "lost")]


def test_what_was_read_is_stored_unless_the_partition_was_taken_away() -> None:
    made, _ = source()
    made._consumer.refused = {1: -172}
    made.store({TopicPartition("orders", 0): 5, TopicPartition("orders", 1): 7})
    assert made._consumer.stored == [("orders", 0, 5)]
    made._consumer.refused = {1: 3}
    with pytest.raises(ClientFailed, match="error 3"):
        made.store({TopicPartition("orders", 1): 7})


def test_a_commit_that_is_refused_is_told() -> None:
    made, _ = source()
    made.commit({TopicPartition("orders", 0): 5})
    assert made._consumer.stored == [("orders", 0, 5)]
    made._consumer.refused = {0: 27}
    with pytest.raises(ClientFailed, match="error 27"):
        made.commit({TopicPartition("orders", 0): 6})


def test_sizes_are_counted_of_records_alone() -> None:
    assert source(FakeMessage(), FakeMessage(error=-191), FakeMessage())[0].read_sizes(1) == (2, 2)
    with pytest.raises(ClientFailed, match="error 1"):
        source(FakeMessage(error=1))[0].read_sizes(1)
