"""Transactional clients of librdkafka that remember how each of their transactions ended."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

_PATIENCE_S = 3.0
_MOST_IN_ONE = 12
_CLIENT = {
    # With "rebootstrap" librdkafka 2.16 forgets the broker when all are down, but its cache of
    # coordinators does not: sending offsets to a transaction would wait for it for ever.
    "metadata.recovery.strategy": "none",
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.ms": 20,
    "log_level": 0,
}
Place = tuple[str, int]
T = TypeVar("T")


@dataclass
class Ledger:
    """Of every transaction: how many records, and if it was committed; None: nobody was told."""

    sizes: dict[bytes, int] = field(default_factory=dict)
    committed: dict[bytes, bool | None] = field(default_factory=dict)


class Transactional(threading.Thread):
    """Transactions until `over`. With an error that stays its producer is made anew, and fences it.

    That is what an application does.
    """

    def __init__(self, bootstrap: str, name: str, over: threading.Event) -> None:
        super().__init__(name=name)
        self.error: BaseException | None = None
        self.ended = 0
        self._servers = bootstrap
        self._over = over
        self._chance = random.Random(name)

    def run(self) -> None:
        try:
            while not self._over.is_set():
                try:
                    self._live(self._producer())
                except KafkaException as error:
                    if not (_reason(error).fatal() or _reason(error).retriable()):
                        raise
            self.close()
        except BaseException as error:
            self.error = error

    def _producer(self) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self._servers,
                "transactional.id": self.name,
                "linger.ms": 0,
                **_CLIENT,
            }
        )
        _insist(lambda: producer.init_transactions(_PATIENCE_S))
        return producer

    def _live(self, producer: Producer) -> None:
        while not self._over.is_set():
            self.transact(producer)

    def transact(self, producer: Producer) -> None:
        raise AssertionError("each kind has its own way")

    def close(self) -> None:
        """Before it ends."""

    def end(self, producer: Producer, *, commits: bool) -> bool:
        """How it ended."""
        if commits:
            try:
                _insist(lambda: producer.commit_transaction(_PATIENCE_S))
            except KafkaException as error:
                if not _reason(error).txn_requires_abort():
                    raise
                commits = False
        if not commits:
            _insist(lambda: producer.abort_transaction(_PATIENCE_S))
        self.ended += 1
        return commits


class Writer(Transactional):
    """A few records to any partitions of a topic, now and then aborted: some of it in the log."""

    def __init__(
        self, bootstrap: str, name: str, over: threading.Event, *, topic: str, partitions: int
    ) -> None:
        super().__init__(bootstrap, name, over)
        self.ledger = Ledger()
        self._topic = topic
        self._partitions = partitions

    def transact(self, producer: Producer) -> None:
        size = self._chance.randint(1, _MOST_IN_ONE)
        label = b"%s:%d" % (self.name.encode(), len(self.ledger.sizes))
        self.ledger.sizes[label] = size
        self.ledger.committed[label] = None
        producer.begin_transaction()
        for number in range(size):
            index = self._chance.randrange(self._partitions)
            producer.produce(self._topic, b"%s:%d" % (label, number), partition=index)
        commits = self._chance.random() < 0.7
        if not commits and self._chance.random() < 0.7:
            producer.flush(_PATIENCE_S)
        self.ledger.committed[label] = self.end(producer, commits=commits)


class Copier(Transactional):
    """Reads committed records of one topic and writes them to another, each exactly once."""

    def __init__(
        self, bootstrap: str, name: str, over: threading.Event, *, source: str, target: str
    ) -> None:
        super().__init__(bootstrap, name, over)
        self._target = target
        self._batch: list[Message] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "copiers",
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 10_000,
                "heartbeat.interval.ms": 500,
                **_CLIENT,
            }
        )
        self._consumer.subscribe([source], on_assign=self._moved, on_revoke=self._moved)

    def _moved(self, _: Consumer, __: list[TopicPartition]) -> None:
        """Whoever reads these partitions next begins at what is committed."""
        self._batch.clear()

    def transact(self, producer: Producer) -> None:
        self._batch.clear()
        patience_s = 0.05
        while len(self._batch) < _MOST_IN_ONE:
            message = self._consumer.poll(patience_s)
            if message is None:
                break
            if message.error() is None:
                self._batch.append(message)
                patience_s = 0.0
        if self._batch:
            self._copy(producer, list(self._batch))

    def _copy(self, producer: Producer, batch: list[Message]) -> None:
        ends: dict[Place, int] = {}
        producer.begin_transaction()
        for message in batch:
            topic, index, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None
            assert index is not None
            assert offset is not None
            ends[topic, index] = offset + 1
            producer.produce(self._target, message.value(), partition=index)
        offsets = [TopicPartition(*place, end) for place, end in ends.items()]
        try:
            group = self._consumer.consumer_group_metadata()
            producer.send_offsets_to_transaction(offsets, group, _PATIENCE_S)
            commits = self._chance.random() < 0.9
        except KafkaException as error:
            if not _reason(error).txn_requires_abort():
                raise
            commits = False
        if not self.end(producer, commits=commits):
            self._go_back()

    def _live(self, producer: Producer) -> None:
        try:
            super()._live(producer)
        except KafkaException:
            self._go_back()
            raise

    def _go_back(self) -> None:
        """To where the group is: what was read since was not copied."""
        assigned = self._consumer.assignment()
        if not assigned:
            return
        found = _insist(lambda: self._consumer.committed(assigned, timeout=_PATIENCE_S))
        for each in found:
            each.offset = max(each.offset, 0)
            self._consumer.seek(each)

    def close(self) -> None:
        self._consumer.close()


def _insist(ask: Callable[[], T]) -> T:
    """While the broker is away, again and again."""
    while True:
        try:
            return ask()
        except KafkaException as error:
            if not _is_passing(_reason(error)):
                raise


def _is_passing(error: KafkaError) -> bool:
    waits = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._WAIT_COORD)
    return error.retriable() or (error.code() in waits and not error.txn_requires_abort())


def _reason(error: KafkaException) -> KafkaError:
    reason = error.args[0]
    assert isinstance(reason, KafkaError)
    return reason
