"""confluent-kafka in transactions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka import Producer as KafkaProducer

from tests.clients.client import PATIENCE_S, ClientFailed
from tests.clients.transactions.history import Read
from tests.clients.transactions.python_actors import (
    AT_ONCE,
    POLL_MS,
    Batch,
    Partition,
    PythonLoop,
    PythonReader,
)

_BEGINNING = -2
# It tells it as if it were a record; it goes by itself.
_PASSING = (KafkaError._ALL_BROKERS_DOWN, KafkaError._MAX_POLL_EXCEEDED)


class ConfluentProducer:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._bootstrap = bootstrap
        self._producer = KafkaProducer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": timeout_ms,
                "linger.ms": 0,
                "log_level": 0,
            }
        )
        self._producer.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def write(self, topic: str, records: Sequence[tuple[int, bytes]]) -> None:
        errors: list[KafkaError] = []

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                errors.append(error)

        for partition, value in records:
            self._producer.produce(topic, value, partition=partition, on_delivery=delivered)
        if self._producer.flush(PATIENCE_S):
            raise ClientFailed("not all was acknowledged in time")
        if errors:
            raise KafkaException(errors[0])

    def add_offsets(self, group: str, offsets: Mapping[Partition, int], member: Any) -> None:
        asked = [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        if member is not None:
            self._producer.send_offsets_to_transaction(asked, member, PATIENCE_S)
            return
        outsider = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        metadata = outsider.consumer_group_metadata()
        self._producer.send_offsets_to_transaction(asked, metadata, PATIENCE_S)
        outsider.close()

    def commit(self) -> None:
        self._producer.commit_transaction(PATIENCE_S)

    def abort(self) -> None:
        self._producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        """It has none: it goes when nobody has it."""


class ConfluentReader(PythonReader):
    def connect(self) -> None:
        self._consumer = Consumer(_settings(self.bootstrap) | {"group.id": "none of its own"})
        self._consumer.assign([TopicPartition(*each, _BEGINNING) for each in self.assigned])

    def poll(self) -> list[Read]:
        return [
            Read(_number(each.partition()), _number(each.offset()), _value(each))
            for each in _polled(self._consumer, 500)
        ]

    def disconnect(self) -> None:
        self._consumer.close()


class ConfluentLoop(PythonLoop):
    def connect(self) -> None:
        self._consumer = Consumer(
            _settings(self.bootstrap)
            | {
                "group.id": self.options.group,
                "client.id": self.name,
                "session.timeout.ms": self.options.session_ms,
                "heartbeat.interval.ms": 100,
                "auto.offset.reset": "earliest",
            }
        )
        self._consumer.subscribe([self.options.source])

    def poll(self) -> Batch:
        found: Batch = {}
        for message in _polled(self._consumer, AT_ONCE):
            offset = _number(message.offset())
            found.setdefault(_number(message.partition()), []).append(offset)
        self.membership = self._consumer.consumer_group_metadata()
        return found

    def rewind(self, partitions: Collection[int]) -> None:
        asked = [TopicPartition(self.options.source, each) for each in partitions]
        owned = {each.partition for each in self._consumer.assignment()}
        for each in self._consumer.committed(asked, PATIENCE_S):
            if each.partition in owned:
                self._consumer.seek(TopicPartition(each.topic, each.partition, max(each.offset, 0)))

    def new_producer(self, transactional_id: str) -> ConfluentProducer:
        return ConfluentProducer(self.bootstrap, transactional_id, self.options.timeout_ms)

    def disconnect(self) -> None:
        self._consumer.close()


def _settings(bootstrap: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "fetch.wait.max.ms": POLL_MS,
        "log_level": 0,
    }


def _polled(consumer: Consumer, count: int) -> list[Message]:
    found = consumer.consume(count, timeout=POLL_MS / 1000)
    for message in found:
        error = message.error()
        if error is not None and error.code() not in _PASSING:
            raise KafkaException(error)
    return [message for message in found if message.error() is None]


def _number(found: int | None) -> int:
    assert found is not None
    return found


def _value(message: Message) -> str:
    value = message.value()
    assert isinstance(value, bytes)
    return value.decode()
