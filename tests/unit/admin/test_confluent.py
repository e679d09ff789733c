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
from ottla.admin.producing import OutgoingRecord

RECORD = OutgoingRecord(b"k", b"v", (("a", b"1"),))


class FakeError:
    def __init__(self, code: int) -> None:
        self._code = code

    def code(self) -> int:
        return self._code

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
        self._reports.append(lambda: record["on_delivery"](failure, None))

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

    def timestamp(self) -> tuple[int, int]:
        return self._timestamp

    def error(self) -> FakeError | None:
        return None if self._error is None else FakeError(self._error)


class FakeConsumer:
    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.polls: list[list[FakeMessage]] = []
        self.assigned: list[tuple[str, int, int]] = []

    def consume(self, *, num_messages: int, timeout: float) -> list[FakeMessage]:
        return self.polls.pop(0)

    def assign(self, places: list[tuple[str, int, int]]) -> None:
        self.assigned = places

    def assignment(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(topic=place[0], partition=place[1]) for place in self.assigned]


LIBRARY = SimpleNamespace(
    Producer=FakeProducer,
    Consumer=FakeConsumer,
    KafkaException=FakeException,
    KafkaError=SimpleNamespace(_PARTITION_EOF=-191, _ALL_BROKERS_DOWN=-187),
    TopicPartition=lambda *place: place,
    TIMESTAMP_NOT_AVAILABLE=0,
    TIMESTAMP_LOG_APPEND_TIME=2,
)


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", LIBRARY)


def test_a_full_queue_is_waited_for_and_the_record_sent_whole() -> None:
    sender = ConfluentSender("orders", None, {"acks": "all"})
    heard: list[str | None] = []
    sender.send(RECORD, heard.append)
    (sent,) = sender._producer.sent
    assert (sent["topic"], sent["partition"]) == ("orders", -1)
    assert (sent["key"], sent["value"], sent["headers"]) == (b"k", b"v", [("a", b"1")])
    assert sender.flush(1) == 0
    assert heard == [None]
    assert sender._producer.settings["acks"] == "all"


def test_records_refused_at_once_or_later_are_told_in_words() -> None:
    sender = ConfluentSender("orders", 5, {})
    heard: list[str | None] = []
    sender.send(RECORD._replace(value=b"fail"), heard.append)
    sender.send(RECORD._replace(value=b"refuse"), heard.append)
    sender.flush(1)
    assert heard == ["error 10", "error 7"]
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
