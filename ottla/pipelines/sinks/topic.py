"""Into a topic, exactly once: a batch is one transaction of one producer, which the driver holds.

The source's offsets and the dead letters are in the same transaction, so that a reader of committed
records sees a batch whole or not at all, and the group is never behind nor ahead of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from ottla.pipelines.declaration import Topic
from ottla.pipelines.sinks.letters import Letterbox
from ottla.pipelines.sinks.port import Batch, Guarantee
from ottla.pipelines.sinks.records import encoder_of, to_records
from ottla.pipelines.sinks.transaction import OffsetsTransaction, Outbox


class TopicSink:
    guarantee = Guarantee.EXACTLY_ONCE
    takes_offsets = True
    sees_rows = True

    def __init__(self, topic: Topic, letterbox: Letterbox, transaction: OffsetsTransaction) -> None:
        self._topic = topic
        self._letterbox = letterbox
        self._transaction = transaction

    def open(self) -> None:
        self._encoder = encoder_of(self._topic)
        self._transaction.open()

    def last_batch(self) -> int:
        return self._transaction.last_batch()

    def write(self, frame: DataFrame, batch: Batch) -> int:
        records = to_records(frame, self._topic, self._encoder)

        def put(outbox: Outbox) -> int:
            count = 0
            for rows in batch.rows(records):
                put_rows(outbox, rows, topic=self._topic.name)
                count += rows.num_rows
            self._letterbox.post(outbox, batch.dead_letters)
            return count

        return self._transaction.run(batch, put)

    def close(self) -> None:
        self._transaction.close()


def put_rows(outbox: Outbox, rows: Any, *, topic: str) -> None:
    """Rows of `to_records`. Those that say more than key and value cannot go in bulk."""
    names = rows.schema.names
    if names == ["value"]:
        messages = [{"value": value} for value in rows.column("value").to_pylist()]
    elif names == ["key", "value"]:
        pairs = zip(rows.column("key").to_pylist(), rows.column("value").to_pylist(), strict=True)
        messages = [{"key": key, "value": value} for key, value in pairs]
    else:
        for row in rows.to_pylist():
            _put_row(outbox, row, topic)
        return
    outbox.put_all(topic, messages, size_bytes=rows.nbytes)


def _put_row(outbox: Outbox, row: Mapping[str, Any], topic: str) -> None:
    headers = [(each["key"], each["value"]) for each in row.get("headers") or ()]
    record = (row.get("key"), row["value"], headers)
    outbox.put(row.get("topic") or topic, record, partition=row.get("partition"))
