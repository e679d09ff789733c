"""Writing rows to topics, at least once: what a task does, and what it asks of the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import BinaryType, DataType, IntegerType, StringType, StructType

from ottla.pipelines.datasource.clients import Pool
from ottla.pipelines.datasource.options import BadOptions, WriteOptions
from ottla.pipelines.datasource.rows import HEADERS

_SETTINGS: dict[str, Any] = {
    "client.id": "ottla-spark",
    "log_level": 0,
    "enable.idempotence": True,
    # As Java's client does: the same key must go where it always went.
    "partitioner": "murmur2_random",
    "linger.ms": 5,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 65_536,
}
_ROOM_S = 0.02
_ANY = -1  # partition
_TEXT = (StringType(), BinaryType())
_TYPES: dict[str, tuple[DataType, ...]] = {
    "topic": (StringType(),),
    "key": _TEXT,
    "value": _TEXT,
    "headers": (HEADERS,),
    "partition": (IntegerType(),),
}


class WriteFailed(Exception):
    """Rows were not written; the message says how many and why."""


def check_columns(schema: StructType, topic: str | None) -> None:
    """BadOptions with all that is wrong. Columns of other names are left out, as ever."""
    wrong = []
    if "value" not in schema.names:
        wrong.append("there is no column `value`")
    if topic is None and "topic" not in schema.names:
        wrong.append("neither a column `topic` nor the option topic says where to write to")
    for field in schema.fields:
        allowed = _TYPES.get(field.name)
        if allowed and not any(_is_same(field.dataType, each) for each in allowed):
            types = " or ".join(each.simpleString() for each in allowed)
            wrong.append(f"column `{field.name}` must be {types}: {field.dataType.simpleString()}")
    if wrong:
        raise BadOptions("; ".join(wrong))


def _is_same(one: DataType, other: DataType) -> bool:
    """Whatever may be null in them."""
    return one.simpleString() == other.simpleString()


class BatchWriter(DataSourceArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return write(iterator, self._options)


class StreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return write(iterator, self._options)


def write(batches: Iterator[pa.RecordBatch], options: WriteOptions) -> WriterCommitMessage:
    with _senders.lent({**_SETTINGS, **options.client}) as sender:
        for batch in batches:
            sender.send(batch, options.topic)
        sender.finish()
    return WriterCommitMessage()


class _Sender:
    """A producer, and what it was told of records that it could not deliver."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._failures: list[str] = []
        # Told of failures only: to be told of every record takes as long as to send it.
        reports = {"delivery.report.only.error": True, "on_delivery": self._failed}
        self._producer = Producer({**settings, **reports})

    def send(self, batch: pa.RecordBatch, topic: str | None) -> None:
        self._stop_if_failed()
        # Any: by position, which its types do not know, and which is twice as fast as by name.
        produce: Any = self._producer.produce
        for row in _rows(batch, topic):
            try:
                produce(*row)
            except BufferError:
                self._send_when_there_is_room(row)
            except KafkaException as cause:
                raise WriteFailed(f"{row[0]}: {cause.args[0].str()}") from cause

    def _send_when_there_is_room(self, row: tuple[Any, ...]) -> None:
        produce: Any = self._producer.produce
        while True:
            self._producer.poll(_ROOM_S)
            self._stop_if_failed()
            try:
                produce(*row)
            except BufferError:
                continue
            return

    def _failed(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failures.append(f"{message.topic()}: {error.str()}")

    def _stop_if_failed(self) -> None:
        self._producer.poll(0)
        if self._failures:
            raise WriteFailed(f"{len(self._failures)} rows: {self._failures[0]}")

    def finish(self) -> None:
        self._producer.flush()
        self._stop_if_failed()


_senders: Pool[_Sender] = Pool(_Sender)


def _rows(batch: pa.RecordBatch, topic: str | None) -> Iterator[tuple[Any, ...]]:
    """As the producer takes them: topic, value, key, partition, callbacks, time, headers."""
    columns = {
        name: batch.column(name).to_pylist() for name in _TYPES if name in batch.schema.names
    }
    if topic is None and None in columns["topic"]:
        raise WriteFailed("a row has no topic: its column `topic` is null")
    topics = columns["topic"] if topic is None else repeat(topic)
    keys = columns.get("key", repeat(None))
    partitions = (_ANY if at is None else at for at in columns.get("partition", repeat(None)))
    headers = map(_pairs, columns["headers"]) if "headers" in columns else repeat(None)
    # As many as there are values: the others may be endless.
    return zip(  # noqa: B905
        topics, columns["value"], keys, partitions, *map(repeat, (None, None, 0)), headers
    )


def _pairs(headers: list[dict[str, Any]] | None) -> list[tuple[str, Any]] | None:
    return None if headers is None else [(pair["key"], pair["value"]) for pair in headers]
