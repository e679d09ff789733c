"""The pipelines' door to confluent-kafka: what a cluster holds, and clients that talk to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

Place = tuple[str, int]  # topic and partition
T = TypeVar("T")

_TIMEOUT_S = 60.0
_IMPATIENT_S = 3.0
_PATIENT_TRIES = 5
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
        self._admin = self._asked(lambda: AdminClient(dict(self.settings)))

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

    def create_topics(self, partitions: Mapping[str, int], **settings: Any) -> None:
        """Those that are not there yet."""
        wanted = [NewTopic(name, count, **settings) for name, count in partitions.items()]
        for answer in self._asked(lambda: self._admin.create_topics(wanted)).values():
            try:
                answer.result(_TIMEOUT_S)
            except KafkaException as cause:
                if cause.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise self._refused(cause) from cause

    def delete_topic(self, name: str) -> None:
        self._result(self._asked(lambda: self._admin.delete_topics([name]))[name])

    def topic_names(self) -> list[str]:
        """All that we may see, sorted."""
        return sorted(self._asked(lambda: self._admin.list_topics(timeout=_TIMEOUT_S)).topics)

    def starts(self, places: Iterable[Place]) -> dict[Place, int]:
        return self._offsets(dict.fromkeys(places, _FIRST))

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        return self._offsets(dict.fromkeys(places, _END))

    def stable_ends(self, places: Iterable[Place]) -> dict[Place, int]:
        """As far as readers of committed records may read: no transaction before is open."""
        return self._offsets(dict.fromkeys(places, _END), IsolationLevel.READ_COMMITTED)

    def offsets_at(self, places: Iterable[Place], timestamp_ms: int) -> dict[Place, int]:
        """Of the first record of that time or later; the end, where there is none."""
        wanted = list(places)
        found = self.offsets_at_times(dict.fromkeys(wanted, timestamp_ms))
        return found | self.ends(place for place in wanted if place not in found)

    def offsets_at_times(self, times_ms: Mapping[Place, int]) -> dict[Place, int]:
        """Likewise, but only of places where there is such a record."""
        asked = {place: OffsetSpec.for_timestamp(time_ms) for place, time_ms in times_ms.items()}
        return {place: offset for place, offset in self._offsets(asked).items() if offset >= 0}

    def _offsets(
        self,
        wanted: Mapping[Place, OffsetSpec],
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[Place, int]:
        if not wanted:
            return {}
        asked = {TopicPartition(*place): spec for place, spec in wanted.items()}
        answers = self._asked(lambda: self._admin.list_offsets(asked, isolation_level=isolation))
        return {
            (where.topic, where.partition): self._result(answer).offset
            for where, answer in answers.items()
        }

    def committed(self, group: str) -> dict[Place, Committed]:
        for _ in range(_PATIENT_TRIES):
            try:
                return self._committed_within(group, _IMPATIENT_S)
            except Unreachable:
                # Where no group has committed yet, the cluster makes its topic for them; the client
                # asks for the coordinator three times in a fifth of a second, and then no more.
                continue
        return self._committed_within(group, _TIMEOUT_S)

    def _committed_within(self, group: str, timeout_s: float) -> dict[Place, Committed]:
        wanted = [ConsumerGroupTopicPartitions(group)]
        asked = self._asked(
            lambda: self._admin.list_consumer_group_offsets(wanted, request_timeout=timeout_s)
        )
        found = self._result(asked[group]).topic_partitions
        return {
            (at.topic, at.partition): Committed(at.offset, at.metadata or "")
            for at in found
            if at.offset >= 0
        }

    def forget_group(self, group: str) -> None:
        asked = self._asked(lambda: self._admin.delete_consumer_groups([group]))
        self._result(asked[group])

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
        except TimeoutError as cause:
            raise Unreachable(f"{self.bootstrap}: no answer in {_TIMEOUT_S:g} s") from cause

    def _result(self, answer: Any) -> Any:
        return self._asked(lambda: answer.result(_TIMEOUT_S))

    def _refused(self, cause: KafkaException) -> Unreachable:
        return Unreachable(f"{self.bootstrap}: {cause.args[0].str()}")
