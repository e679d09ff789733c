"""The pipelines' door to confluent-kafka: what a cluster holds, and clients that talk to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

Place = tuple[str, int]  # topic and partition
T = TypeVar("T")

_TIMEOUT_S = 30.0
_QUIET: dict[str, Any] = {"client.id": "ottla-pipeline", "log_level": 0}
# Its functions for these have no types.
_FIRST: Any = OffsetSpec._earliest
_END: Any = OffsetSpec._latest
_MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.UNKNOWN_TOPIC_ID)


class Unreachable(Exception):
    """The cluster did not answer, or refused; the message says which and what."""


class KnownTopic(NamedTuple):
    id: str  # "" where the cluster is too old to have ids
    partitions: int


class Committed(NamedTuple):
    offset: int
    metadata: str


class Cluster:
    """Asks with time limits, and answers in plain values."""

    def __init__(self, bootstrap: str, settings: Mapping[str, str] | None = None) -> None:
        self.bootstrap = bootstrap
        self.settings = {**_QUIET, **(settings or {}), "bootstrap.servers": bootstrap}
        # Kept: the answers to a client that has been collected never come.
        self._admin = AdminClient(dict(self.settings))

    def topics(self, names: Iterable[str]) -> dict[str, KnownTopic]:
        """Those that there are."""
        wanted = list(names)
        asked = self._asked(lambda: self._admin.describe_topics(TopicCollection(wanted)))
        found = {}
        for name, answer in asked.items():
            try:
                topic = answer.result(_TIMEOUT_S)
            except KafkaException as cause:
                if cause.args[0].code() not in _MISSING:
                    raise self._refused(cause) from cause
                continue
            found[name] = KnownTopic(str(topic.topic_id or ""), len(topic.partitions))
        return found

    def starts(self, places: Iterable[Place]) -> dict[Place, int]:
        return self._offsets(dict.fromkeys(places, _FIRST))

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        return self._offsets(dict.fromkeys(places, _END))

    def offsets_at(self, places: Iterable[Place], timestamp_ms: int) -> dict[Place, int]:
        """Of the first record of that time or later; the end, where there is none."""
        wanted = list(places)
        found = self._offsets(dict.fromkeys(wanted, OffsetSpec.for_timestamp(timestamp_ms)))
        if late := [place for place in wanted if found[place] < 0]:
            found |= self.ends(late)
        return found

    def _offsets(self, wanted: Mapping[Place, OffsetSpec]) -> dict[Place, int]:
        if not wanted:
            return {}
        asked = {TopicPartition(*place): spec for place, spec in wanted.items()}
        answers = self._asked(lambda: self._admin.list_offsets(asked))
        return {
            (where.topic, where.partition): self._result(answer).offset
            for where, answer in answers.items()
        }

    def committed(self, group: str) -> dict[Place, Committed]:
        asked = self._asked(
            lambda: self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        )
        found = self._result(asked[group]).topic_partitions
        return {
            (at.topic, at.partition): Committed(at.offset, at.metadata or "")
            for at in found
            if at.offset >= 0
        }

    def commit(self, group: str, offsets: Mapping[Place, int], *, metadata: str = "") -> None:
        """For a group without members."""
        rows = [TopicPartition(*place, offset, metadata) for place, offset in offsets.items()]
        consumer = self.consumer({"group.id": group})
        try:
            self._asked(lambda: consumer.commit(offsets=rows, asynchronous=False))
        finally:
            consumer.close()

    def producer(self, settings: Mapping[str, Any]) -> Producer:
        return Producer({**self.settings, **settings})

    def consumer(self, settings: Mapping[str, Any]) -> Consumer:
        return Consumer({"enable.auto.commit": False, **self.settings, **settings})

    def _asked(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except KafkaException as cause:
            raise self._refused(cause) from cause

    def _result(self, answer: Any) -> Any:
        return self._asked(lambda: answer.result(_TIMEOUT_S))

    def _refused(self, cause: KafkaException) -> Unreachable:
        return Unreachable(f"{self.bootstrap}: {cause.args[0].str()}")
