"""What a task does: reads a range of one partition, in Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from ottla.pipelines.datasource.clients import Pool
from ottla.pipelines.datasource.options import ReadOptions
from ottla.pipelines.datasource.planning import DELETED, DataLost, Loss, Range
from ottla.pipelines.datasource.rows import Rows
from ottla.pipelines.garbage import without_garbage_collection
from ottla.timing.clock import Stopwatch

_SETTINGS: dict[str, Any] = {
    "client.id": "ottla-spark",
    "log_level": 0,
    # A pause as soon as its queue is full; its second is longer than it takes us to empty it.
    "fetch.queue.backoff.ms": 5,
    # What we read is there already. A fetch that waits for more would hold up the next task's.
    "fetch.wait.max.ms": 10,
    "max.partition.fetch.bytes": 4 << 20,
}
_OURS: dict[str, Any] = {
    "auto.offset.reset": "error",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
}
# `consume` waits so long for as many as it was asked for, if there are fewer.
_PATIENCE_S = 0.05
_FIRST_COUNT, _MOST_COUNT = 1_000, 10_000
_BATCH_BYTES = 8 << 20
_ANSWER_S = 30.0

_consumers: Pool[Consumer] = Pool(Consumer)


class ReadFailed(Exception):
    """A range could not be read; the message says which and why."""


def read(wanted: Range, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    settings = {**_SETTINGS, **options.client, **_OURS}
    # A topic that is new to a client costs it more time than another client does.
    lent = _consumers.lent(settings, purpose=wanted.topic)
    with lent as consumer, without_garbage_collection():
        yield from _Reading(consumer, wanted, options).batches()
        consumer.unassign()


class _Reading:
    """One range, until the consumer has passed its end.

    Offsets are not counted: where there are markers of transactions, aborted records or gaps left
    by compaction, fewer records come, and none at all may come from the range's end.
    """

    def __init__(self, consumer: Consumer, wanted: Range, options: ReadOptions) -> None:
        self._consumer = consumer
        self._wanted = wanted
        self._options = options
        self._begin_at(wanted.start)

    def _begin_at(self, offset: int) -> None:
        self._position = offset
        self._consumer.assign([TopicPartition(*self._wanted[:2], offset)])

    def batches(self) -> Iterator[pa.RecordBatch]:
        rows = Rows(*self._wanted[:2], include_headers=self._options.include_headers)
        count, waited = _FIRST_COUNT, Stopwatch()
        while (missing := self._wanted.end - self._position) > 0:
            messages = self._sorted_out(self._consumer.consume(min(count, missing), _PATIENCE_S))
            if messages:
                batch = rows.batch(messages)
                count = max(1, min(_MOST_COUNT, _BATCH_BYTES * len(messages) // batch.nbytes))
                yield batch
                waited = Stopwatch()
            elif waited.elapsed_s() * 1000 > self._options.poll_timeout_ms:
                raise ReadFailed(self._nothing_came())

    def _sorted_out(self, arrived: list[Message]) -> list[Message]:
        """The records of the range. What else arrived is dealt with."""
        if any(map(Message.error, arrived)):
            for message in arrived:
                if error := message.error():
                    self._told(error, at=message.offset() or 0)
            arrived = [message for message in arrived if not message.error()]
        (passed,) = self._consumer.position([TopicPartition(*self._wanted[:2])])
        self._position = max(self._position, passed.offset)
        if arrived and (arrived[-1].offset() or 0) >= self._wanted.end:
            return [each for each in arrived if (each.offset() or 0) < self._wanted.end]
        return arrived

    def _told(self, error: KafkaError, *, at: int) -> None:
        match error.code():
            case KafkaError._PARTITION_EOF:
                self._position = max(self._position, at)
            case KafkaError._AUTO_OFFSET_RESET:
                self._skip_what_is_deleted()
            case _:
                raise ReadFailed(f"{self._name()}: {error.str()}")

    def _skip_what_is_deleted(self) -> None:
        """Since the batch was planned; those of before are known already."""
        place = TopicPartition(*self._wanted[:2])
        first, _ = self._consumer.get_watermark_offsets(place, timeout=_ANSWER_S)
        end = min(first, self._wanted.end)
        if self._options.fail_on_data_loss:
            raise DataLost([Loss(*self._wanted[:2], self._position, end, DELETED)])
        self._begin_at(end)

    def _nothing_came(self) -> str:
        waited = f"nothing came for {self._options.poll_timeout_ms} ms"
        return f"{self._name()}: {waited} at offset {self._position}; is its leader there?"

    def _name(self) -> str:
        topic, partition, start, end = self._wanted
        return f"{topic}-{partition}, offsets {start} to {end - 1}"
