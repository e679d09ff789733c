"""Consumers of librdkafka that do nothing but commit, and remember what was acknowledged."""

from __future__ import annotations

import threading

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

Place = tuple[str, int]  # a group and a partition

# What a broker that dies or rebalances has them hear; they go on after it.
_PASSING = (
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._WAIT_COORD,
    KafkaError._STATE,
    KafkaError._DESTROY,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._ASSIGNMENT_LOST,
)
_PATIENCE_S = 60.0


class Acknowledged:
    """The highest offset of each place that some consumer was told is committed."""

    def __init__(self) -> None:
        self._offsets: dict[Place, int] = {}
        self._count = 0
        self._lock = threading.Lock()

    def add(self, group: str, committed: list[TopicPartition]) -> None:
        with self._lock:
            for each in committed:
                place = (group, each.partition)
                self._offsets[place] = max(each.offset, self._offsets.get(place, -1))
                self._count += 1

    def copy(self) -> dict[Place, int]:
        with self._lock:
            return dict(self._offsets)

    @property
    def count(self) -> int:
        return self._count


class Committer(threading.Thread):
    """A member of a group, until `over`. Each partition that it gets it commits on and on."""

    def __init__(
        self, bootstrap: str, group: str, topic: str, told: Acknowledged, over: threading.Event
    ) -> None:
        super().__init__(name=group)
        self.error: BaseException | None = None
        self._group = group
        self._topic = topic
        self._told = told
        self._over = over
        self._next: dict[int, int] = {}  # of the partitions that it owns
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "session.timeout.ms": 10_000,
                "heartbeat.interval.ms": 500,
                "reconnect.backoff.max.ms": 500,
                "enable.auto.commit": False,
                "partition.assignment.strategy": "roundrobin",
            }
        )

    def run(self) -> None:
        try:
            self._consumer.subscribe(
                [self._topic], on_assign=self._assigned, on_revoke=self._revoked
            )
            while not self._over.is_set():
                self._consumer.poll(0.02)
                if self._next:
                    self._commit()
            self._consumer.close()
        except BaseException as error:
            self.error = error

    def _assigned(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        before = self._told.copy()
        found = self._committed(partitions)
        for each in found:
            told = before.get((self._group, each.partition), -1)
            if max(each.offset, -1) < told:
                # Raised here it would only be printed.
                lost = f"{self._group} {each.partition}: {told} was committed, found {each.offset}"
                self.error = AssertionError(lost)
        self._next = {each.partition: max(each.offset, 0) + 1 for each in found}

    def _committed(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        while not self._over.is_set():
            try:
                return self._consumer.committed(partitions, timeout=_PATIENCE_S)
            except KafkaException as error:
                _expect_passing(error)
        return []

    def _revoked(self, _: Consumer, __: list[TopicPartition]) -> None:
        self._next = {}

    def _commit(self) -> None:
        offsets = [TopicPartition(self._topic, index, at) for index, at in self._next.items()]
        try:
            answers = self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            _expect_passing(error)
            return
        done = [each for each in answers or [] if each.error is None]
        self._told.add(self._group, done)
        for each in done:
            if each.partition in self._next:
                self._next[each.partition] = each.offset + 1


def _expect_passing(error: KafkaException) -> None:
    reason = error.args[0]
    assert isinstance(reason, KafkaError)
    assert reason.code() in _PASSING, reason
