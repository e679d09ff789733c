"""One transaction a batch: its records, the group's offsets, and which batch that was.

What the group remembers beside each offset, {"batch": N, "generation": G}, tells a batch that
Spark repeats from a new one. A run fences the one before it, of whatever generation.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from ottla.pipelines.kafka import Cluster
from ottla.pipelines.repair.letter_records import Record
from ottla.pipelines.sinks.port import Batch, SinkRefused

NO_BATCH = -1
_TIMEOUT_S = 60.0
_MOST_QUEUED = 500_000
_MOST_QUEUED_BYTES = 256 << 20
_AT_ONCE = 50  # so few that they have room, even if each is as large as a record may be
_SETTINGS: dict[str, Any] = {
    # The longest that brokers allow as they come: it runs while Spark works on the batch.
    "transaction.timeout.ms": 900_000,
    "message.timeout.ms": 120_000,
    "linger.ms": 20,
    "batch.size": 1 << 20,
    # Above what we let it hold: a full queue could refuse one record and take the next.
    "queue.buffering.max.messages": 2 * _MOST_QUEUED,
    "queue.buffering.max.kbytes": (8 * _MOST_QUEUED_BYTES) >> 10,
    "delivery.report.only.error": True,
    "partitioner": "murmur2_random",  # a key goes where every Java client sends it
}


class Outbox:
    """Records of a transaction that is open, in the order in which they were put in."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._queued = self._queued_bytes = 0
        self.failed: list[KafkaError] = []

    def put(self, topic: str, record: Record, *, partition: int | None = None) -> None:
        key, value, headers = record
        self._make_room(1, len(value or b""))
        where = -1 if partition is None else partition
        self._producer.produce(topic, value, key, where, on_delivery=self._arrived, headers=headers)

    def put_each(self, topic: str, records: Iterable[Record]) -> None:
        """As `put`, of very many: what has headers cannot go in bulk."""
        produce, arrived, records = self._producer.produce, self._arrived, iter(records)
        while some := list(islice(records, _AT_ONCE)):
            self._make_room(len(some), sum(len(value or b"") for _, value, _ in some))
            for key, value, headers in some:
                produce(topic, value, key, on_delivery=arrived, headers=headers)
            self._producer.poll(0)  # frees what has arrived, while others are on their way

    def put_all(self, topic: str, messages: list[dict[str, Any]], *, size_bytes: int) -> None:
        """Each with `value` and perhaps `key`: what goes fast."""
        self._make_room(len(messages), size_bytes)
        if self._producer.produce_batch(topic, messages, on_delivery=self._arrived) < len(messages):
            raise KafkaException(next(each["_error"] for each in messages if "_error" in each))
        self._producer.poll(0)

    def _make_room(self, count: int, size_bytes: int) -> None:
        if (
            self._queued + count > _MOST_QUEUED
            or self._queued_bytes + size_bytes > _MOST_QUEUED_BYTES
        ):
            self._producer.flush()
            self._queued = self._queued_bytes = 0
        self._queued += count
        self._queued_bytes += size_bytes

    def _arrived(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self.failed.append(error)


def batch_of(metadata: str | None, *, generation: int) -> int:
    """What is told beside an offset; anyone may commit for the group, and tell other things."""
    try:
        told = json.loads(metadata or "{}")
    except ValueError:
        return NO_BATCH
    if not isinstance(told, dict) or told.get("generation") != generation:
        return NO_BATCH
    batch = told.get("batch")
    return batch if isinstance(batch, int) else NO_BATCH


class OffsetsTransaction:
    def __init__(
        self,
        cluster: Cluster,
        *,
        group: str,
        generation: int,
        sources: Sequence[str],
        targets: Sequence[str],  # the first stands for the sources, where none of them is a topic
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._cluster = cluster
        self._group = group
        self._generation = generation
        self._sources = sources
        self._targets = targets
        self._settings = {**_SETTINGS, **(settings or {}), "transactional.id": group}
        self._producer: Producer | None = None
        self._consumer: Consumer | None = None

    def open(self) -> None:
        known = self._cluster.topics(self._targets)
        if missing := [name for name in self._targets if name not in known]:
            raise SinkRefused(
                f"{self._cluster.bootstrap} has no topic {missing[0]}: create it first, "
                f"with as many partitions as it needs (ottla topics create {missing[0]})"
            )
        # Only to name the group: it never joins, and so has no members.
        self._consumer = self._cluster.consumer({"group.id": self._group})
        self._producer = self._cluster.producer(self._settings)
        with self._refusals():
            self._producer.init_transactions(_TIMEOUT_S)

    def last_batch(self) -> int:
        """Of this generation. Waits for offsets whose transaction is being committed."""
        assert self._consumer is not None
        known = self._cluster.topics(dict.fromkeys((*self._sources, *self._targets)))
        places = [
            TopicPartition(name, partition)
            for name, topic in known.items()
            for partition in range(topic.partitions)
        ]
        with self._refusals():
            found = self._consumer.committed(places, _TIMEOUT_S)
        return max(batch_of(at.metadata, generation=self._generation) for at in found)

    def run(self, batch: Batch, put: Callable[[Outbox], int]) -> int:
        """All of what `put` puts in, with the batch's offsets, or nothing of it."""
        assert self._producer is not None
        assert self._consumer is not None
        is_done = False
        outbox = Outbox(self._producer)
        try:
            with self._refusals(outbox):
                self._producer.begin_transaction()
                count = put(outbox)
                self._producer.send_offsets_to_transaction(
                    self._positions(batch), self._consumer.consumer_group_metadata(), _TIMEOUT_S
                )
                self._producer.commit_transaction()
            is_done = True
        finally:
            if not is_done:
                # If this fails too, whoever runs next ends what is open before he begins.
                with contextlib.suppress(KafkaException):
                    self._producer.abort_transaction(_TIMEOUT_S)
        return count

    def commit_offsets_alone(self, batch: Batch) -> None:
        """Outside of any transaction, so that the group shows how far the pipeline has come."""
        if batch.offsets:
            self._cluster.commit(self._group, batch.offsets, metadata=self._told_of(batch))

    def _told_of(self, batch: Batch) -> str:
        return json.dumps({"batch": batch.id, "generation": self._generation})

    def _positions(self, batch: Batch) -> list[TopicPartition]:
        offsets = batch.offsets or {(self._targets[0], 0): batch.id + 1}
        told = self._told_of(batch)
        return [TopicPartition(*place, offset, told) for place, offset in offsets.items()]

    @contextlib.contextmanager
    def _refusals(self, outbox: Outbox | None = None) -> Iterator[None]:
        try:
            yield
        except KafkaException as cause:
            error = cause.args[0]
            if error.code() == KafkaError._INCONSISTENT and outbox and outbox.failed:
                error = outbox.failed[0]  # the reason of what is only the outcome
            raise SinkRefused(self._sentence(error)) from cause

    def _sentence(self, error: KafkaError) -> str:
        if error.code() in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH):
            return f"another run of {self._group} took over; this one has to end"
        return f"{self._cluster.bootstrap}: {error.str()} ({error.name()})"

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
        self._consumer = self._producer = None
