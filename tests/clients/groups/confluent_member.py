"""confluent-kafka as a member of a group."""

from __future__ import annotations

from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from tests.clients.client import PATIENCE_S
from tests.clients.groups.history import ASSIGNED, LOST, REVOKED
from tests.clients.groups.options import COOPERATIVE
from tests.clients.groups.python_member import Commit, Partition, PythonMember

_SEEKS = {"seek_to_beginning": -2, "seek_to_end": -1}
# It tells them as if they were records; the first two come and go by themselves.
_PASSING = (
    KafkaError._MAX_POLL_EXCEEDED,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


class ConfluentMember(PythonMember):
    _is_asynchronous = False

    def connect(self) -> None:
        options = self.options
        settings: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap,
            "client.id": self.name,
            "group.id": options.group,
            "partition.assignment.strategy": options.assignor,
            "session.timeout.ms": options.session_ms,
            "heartbeat.interval.ms": 100,
            "max.poll.interval.ms": options.max_poll_ms,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "on_commit": self._answered,
            "fetch.wait.max.ms": 50,
            "topic.metadata.refresh.interval.ms": 500,
            "log_level": 0,
        }
        if options.instance:
            settings["group.instance.id"] = options.instance
        self.consumer = Consumer(settings)
        if options.assign:
            self.consumer.assign([TopicPartition(*each) for each in options.partitions()])
        else:
            topics = [options.pattern] if options.pattern else options.topics.split(",")
            self.consumer.subscribe(
                topics, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
            )

    def poll(self, timeout_s: float) -> None:
        for message in self.consumer.consume(10, timeout=timeout_s):
            error = message.error()
            if error is None:
                topic, partition, offset = message.topic(), message.partition(), message.offset()
                assert topic is not None
                assert partition is not None
                assert offset is not None
                self.took((topic, partition), [offset])
            elif error.code() not in _PASSING:
                raise KafkaException(error)
        self.commit_due()

    def commit(self, offsets: Commit, *, wait: bool) -> None:
        asked = [
            TopicPartition(topic, partition, offset, metadata)
            for (topic, partition), (offset, metadata) in offsets.items()
        ]
        self._is_asynchronous = not wait
        if not wait:
            self.consumer.commit(offsets=asked, asynchronous=True)
            return
        for found in self.consumer.commit(offsets=asked, asynchronous=False):
            if found.error:
                raise KafkaException(found.error)

    def _answered(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        """It is called after synchronous commits, too."""
        if self._is_asynchronous and error is None:
            self.stored({(each.topic, each.partition): (each.offset, "") for each in partitions})

    def control(self, verb: str, partition: Partition, offset: int) -> Any:
        where = TopicPartition(*partition, _SEEKS.get(verb, offset))
        if verb.startswith("seek"):
            return self.consumer.seek(where)
        return getattr(self.consumer, verb)([where])

    def disconnect(self) -> None:
        self.consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """It is told last: a topic that is found between this call and `assign` makes it join again
        without a word of what it gives up, and what it reads meanwhile it can't commit."""
        begun = [_begun(each) for each in consumer.committed(partitions, timeout=PATIENCE_S)]
        if self.options.assignor == COOPERATIVE:
            consumer.incremental_assign(begun)
        else:
            consumer.assign(begun)
        self.journal.tell(ASSIGNED, _bare(partitions))

    def _revoked(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.commit_due(_bare(partitions))
        self.journal.tell(REVOKED, _bare(partitions))
        self._forget(partitions)

    def _lost(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.journal.tell(LOST, _bare(partitions))
        self._forget(partitions)

    def _forget(self, partitions: list[TopicPartition]) -> None:
        for each in _bare(partitions):
            self.uncommitted.pop(each, None)


def _bare(partitions: list[TopicPartition]) -> list[Partition]:
    return [(each.topic, each.partition) for each in partitions]


def _begun(committed: TopicPartition) -> TopicPartition:
    """Where nothing is committed it is told to begin at the first offset. By itself it would ask
    for that; if a partition is taken from it meanwhile, it asks again half a second later, and if
    it has the partition again by then, it goes back to the first offset, whatever has been
    committed (librdkafka 2.16.1, beside Apache Kafka as well)."""
    offset = 0 if committed.offset == OFFSET_INVALID else OFFSET_INVALID
    return TopicPartition(committed.topic, committed.partition, offset)
