"""Clients of transactions, with a library in the place of the real one that answers as told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ottla.admin import transactional
from ottla.admin.cluster import TopicPartition
from ottla.admin.transactional import Answer, TransactionalClients, TransactionalProducer, settle
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster
from tests.unit.admin.test_confluent import FakeConsumer, FakeException, FakeMessage

_TIMED_OUT = -185
ORDERS = TopicPartition("orders", 3)


class TransactionError:
    def __init__(self, name: str, *, is_retriable: bool = False) -> None:
        self.name = lambda: name
        self.str = lambda: f"it said {name}"
        self.code = lambda: _TIMED_OUT if name == "_TIMED_OUT" else 0
        self.retriable = lambda: is_retriable


class Producer:
    """Raises `failures` one after the other, then none."""

    failures: list[TransactionError]

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.asked: list[object] = []
        self.failures = []
        self.reports: list[Callable[[], None]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        def ask(*arguments: object) -> None:
            self.asked.append((name, *arguments))
            if self.failures:
                raise FakeException(self.failures.pop(0))

        return ask

    def produce(self, topic: str, *, on_delivery: Callable[..., None], **record: Any) -> None:
        if record["value"] == b"refused":
            raise FakeException(TransactionError("_STATE"))
        failure = TransactionError("_PURGE_QUEUE") if record["value"] == b"failed" else None
        self.reports.append(lambda: on_delivery(failure, FakeMessage()))

    def poll(self, timeout_s: float) -> None:
        while self.reports:
            self.reports.pop(0)()
        if self.failures:
            raise FakeException(self.failures[0])


class Member(FakeConsumer):
    where: int | None = 5

    def seek(self, place: tuple[str, int, int]) -> None:
        if place[1] in self.refused:
            raise FakeException(TransactionError("_STATE"))
        self.assigned = [place]

    def committed(self, places: list[tuple[str, int]], timeout_s: float) -> list[SimpleNamespace]:
        if self.refused:
            raise FakeException(TransactionError("_TIMED_OUT"))
        error = None if self.where is not None else TransactionError("UNSTABLE_OFFSET_COMMIT")
        return [
            SimpleNamespace(topic=topic, partition=partition, offset=self.where, error=error)
            for topic, partition in places
        ]

    def consumer_group_metadata(self) -> str:
        return "the member"


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = SimpleNamespace(_PARTITION_EOF=-191, _ALL_BROKERS_DOWN=-187, _TIMED_OUT=_TIMED_OUT)
    module = SimpleNamespace(
        Producer=Producer,
        Consumer=Member,
        KafkaException=FakeException,
        KafkaError=errors,
        TopicPartition=lambda *place: place,
        TIMESTAMP_NOT_AVAILABLE=0,
        TIMESTAMP_LOG_APPEND_TIME=2,
    )
    monkeypatch.setitem(sys.modules, "confluent_kafka", module)


@pytest.fixture
def producer() -> TransactionalProducer:
    return TransactionalClients("here:9092").producer("payments")


def test_a_producer_has_its_id_and_asks_as_it_is_told(producer: TransactionalProducer) -> None:
    assert producer._producer.settings["transactional.id"] == "payments"
    assert producer._producer.settings["bootstrap.servers"] == "here:9092"
    assert producer.initialize() == producer.begin() == Answer(True)
    assert producer.send_offsets([(ORDERS, 7)], "the member") == Answer(True)
    assert producer.end(is_commit=True) == producer.end(is_commit=False) == Answer(True)
    assert [each[:3] for each in producer._producer.asked] == [
        ("init_transactions", 0.005),
        ("begin_transaction",),
        ("send_offsets_to_transaction", [("orders", 3, 7)], "the member"),
        ("commit_transaction", 30.0),
        ("abort_transaction", 30.0),
    ]


def test_only_a_library_that_starts_over_is_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    class Older(Producer):
        def __init__(self, settings: dict[str, Any]) -> None:
            if option in settings:
                raise FakeException(TransactionError("_INVALID_ARG"))
            super().__init__(settings)

    option = "metadata.recovery.strategy"
    clients = TransactionalClients("here:9092")
    assert clients.producer("payments")._producer.settings[option] == "none"
    monkeypatch.setattr(sys.modules["confluent_kafka"], "Producer", Older)
    assert clients.producer("payments")._producer.settings["transactional.id"] == "payments"


def test_what_is_refused_is_an_answer(producer: TransactionalProducer) -> None:
    producer._producer.failures = [TransactionError("INVALID_TXN_STATE")]
    assert producer.begin() == Answer(False, False, "it said INVALID_TXN_STATE")
    producer._producer.failures = [TransactionError("_FENCED")]
    assert producer.begin() == Answer(False, True, "it said _FENCED")


def test_what_may_be_tried_again_is_tried_again_once(producer: TransactionalProducer) -> None:
    again = TransactionError("_TIMED_OUT", is_retriable=True)
    producer._producer.failures = [again]
    assert producer.begin() == Answer(True)
    producer._producer.failures = [again, again]
    assert producer.begin() == Answer(False, False, "it said _TIMED_OUT")


def test_an_id_is_taken_in_the_background(producer: TransactionalProducer) -> None:
    producer._producer.failures = [TransactionError("_TIMED_OUT")]
    assert producer.initialize() is None
    assert producer.initialize() == Answer(True)
    producer._producer.failures = [TransactionError("INVALID_TRANSACTION_TIMEOUT")]
    refused = Answer(False, False, "it said INVALID_TRANSACTION_TIMEOUT")
    assert producer.initialize() == refused


def test_the_offset_of_a_record_is_heard_or_none(producer: TransactionalProducer) -> None:
    heard: list[int | None] = []
    for value in ("sent", "failed", "refused"):
        producer.send(ORDERS, value, heard.append)
    assert heard == [42, None, None]


def test_a_producer_that_is_fenced_for_good_can_still_be_left(
    producer: TransactionalProducer,
) -> None:
    producer._producer.failures = [TransactionError("_FENCED")] * 3
    producer.send(ORDERS, "sent", lambda offset: None)
    asked = producer._producer.asked
    producer.abandon()
    producer.abandon()
    assert asked == [("purge",)]


def test_readers_and_members_differ_in_what_they_read() -> None:
    clients = TransactionalClients("here:9092")
    reader, member = clients.reader(read_committed=False), clients.member("team")
    settings = [each._source._consumer.settings for each in (reader, member)]
    told = [(each["isolation.level"], each["group.id"]) for each in settings]
    assert told == [("read_uncommitted", "ottla-verify"), ("read_committed", "team")]
    assert member.membership() == "the member"


def test_records_come_as_plain_values() -> None:
    reader = TransactionalClients("here:9092").reader(read_committed=True)
    reader.assign([(ORDERS, 4)])
    reader._source._consumer.polls = [[FakeMessage(), FakeMessage(error=-191)]]
    assert reader._source._consumer.assigned == [("orders", 3, 4)]
    assert reader.poll(0) == [(ORDERS, 42, "v")]


def test_a_member_that_may_not_seek_or_ask_hears_no() -> None:
    member = TransactionalClients("here:9092").member("team")
    consumer = member._source._consumer
    assert member.seek([(ORDERS, 4)])
    assert member.committed([ORDERS]) == [(ORDERS, 5)]
    consumer.where = -1001
    assert member.committed([ORDERS]) == [(ORDERS, -1)]
    consumer.where = None
    assert member.committed([ORDERS]) is None
    consumer.refused = {3: 1}
    assert not member.seek([(ORDERS, 4)])
    assert member.committed([ORDERS]) is None


class Log:
    """Its end is 9; of the last stable offset it tells what it is given, one after the other."""

    def __init__(self, *stable: int, error: ErrorCode = ErrorCode.NONE) -> None:
        self._stable = list(stable)
        self._error = error
        self.cluster = ScriptedCluster(self._answer, topics={"orders": [(0, [0], [0])]})

    def settles(self) -> str:
        return self.cluster.run(lambda cluster: settle(cluster, [TopicPartition("orders", 0)]))

    def _answer(self, broker: int, message: Message) -> Message:
        assert isinstance(message, ListOffsetsRequest)
        offset = self._stable.pop(0) if message.isolation_level else 9
        answer = ListOffsetsPartitionResponse(
            partition_index=0, offset=offset, error_code=self._error
        )
        topic = ListOffsetsTopicResponse(name="orders", partitions=[answer])
        return ListOffsetsResponse(topics=[topic])


def test_a_log_is_settled_once_its_last_stable_offset_is_its_end() -> None:
    assert Log(9).settles() == ""
    log = Log(5, 5, 9)
    assert log.settles() == ""
    assert log.cluster.kinds() == ["ListOffsets"] * 6


def test_a_transaction_that_hangs_is_named_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactional, "_SETTLING_ATTEMPTS", 3)
    assert Log(5, 5, 7).settles() == (
        "the last stable offset of orders-0 stands still at 7, and its end is 9: "
        "a transaction hangs there"
    )


def test_a_log_that_cannot_be_asked_is_told() -> None:
    with pytest.raises(KafkaError, match="orders-0: "):
        Log(5, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED).settles()


def test_everything_is_read_up_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Polled(Member):
        def consume(self, *, num_messages: int, timeout: float) -> list[FakeMessage]:
            return self.rounds.pop(0)

        def close(self) -> None:
            self.rounds.clear()

        rounds: ClassVar = [[FakeMessage()], [FakeMessage(), FakeMessage(error=-191)], []]

    monkeypatch.setattr(sys.modules["confluent_kafka"], "Consumer", Polled)
    clients = TransactionalClients("here:9092")
    found = list(clients.everything([ORDERS], read_committed=True))
    assert found == [(ORDERS, 42, "v")] * 2
    assert Polled.rounds == []
