"""Writes records in transactions, as the only one of its transactional id."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ottla.pipelines.kafka import Cluster, Unreachable
from ottla.pipelines.repair.letter import Headers

_TIMEOUT_S = 60.0
_AS_THE_BROKER_SAYS = -1
_FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
_SETTINGS: dict[str, Any] = {
    "partitioner": "murmur2_random",  # a key goes where every Java client sends it
    "message.max.bytes": 100_000_000,  # the broker says what is too large
    "linger.ms": 0,  # a commit sends what is there anyway
}


class Fenced(Exception):
    """Somebody else writes under the same transactional id now."""


class Outgoing(NamedTuple):
    topic: str
    partition: int | None  # None: by its key
    timestamp_ms: int  # 0: now
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class TransactionalWriter:
    """Once it is made, whoever wrote under this id before can do so no more."""

    def __init__(self, cluster: Cluster, transactional_id: str) -> None:
        self._cluster = cluster
        self._id = transactional_id
        settings = {**_SETTINGS, "transactional.id": transactional_id}
        self._producer: Producer = cluster.producer(settings)
        with self._refusals():
            self._producer.init_transactions(_TIMEOUT_S)

    def write(self, records: Sequence[Outgoing]) -> None:
        """All of them or none. Which it was is not known, if the cluster went silent at the end."""
        failed: list[KafkaError] = []

        def arrived(error: KafkaError | None, _message: object) -> None:
            if error is not None:
                failed.append(error)

        with self._refusals(failed):
            self._producer.begin_transaction()
            for record in records:
                where = -1 if record.partition is None else record.partition
                self._producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    where,
                    on_delivery=arrived,
                    timestamp=record.timestamp_ms,
                    headers=list(record.headers),
                )
            self._producer.commit_transaction(_TIMEOUT_S)

    @contextlib.contextmanager
    def _refusals(self, failed: Sequence[KafkaError] = ()) -> Iterator[None]:
        """An open transaction ends with its time limit, or when the id is used again."""
        try:
            yield
        except KafkaException as cause:
            errors = [cause.args[0], *failed]
            if any(error.code() in _FENCED for error in errors):
                raise Fenced(f"somebody else writes as {self._id} now") from cause
            # A record that was refused is the reason of what follows.
            raise Unreachable(f"{self._cluster.bootstrap}: {errors[-1].str()}") from cause
        except BufferError as cause:
            raise Unreachable(f"{self._cluster.bootstrap}: it does not take records") from cause


def create_topic(cluster: Cluster, name: str, configs: Mapping[str, str]) -> None:
    """Of one partition; harmless if there is one already."""
    admin = AdminClient(dict(cluster.settings))
    wanted = NewTopic(name, 1, _AS_THE_BROKER_SAYS, config=dict(configs))
    try:
        admin.create_topics([wanted])[name].result(_TIMEOUT_S)
    except KafkaException as cause:
        if cause.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise Unreachable(f"{cluster.bootstrap}: {name}: {cause.args[0].str()}") from cause
