"""What a task of the sink without jars sends, without Spark."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ottla.pipelines.datasource.options import read_options, write_options
from ottla.pipelines.datasource.planning import Range
from ottla.pipelines.datasource.reading import read
from ottla.pipelines.datasource.writing import WriteFailed, write
from ottla.testing.broker import Broker

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def send(broker: Broker, columns: dict[str, Any], **options: str) -> None:
    given = write_options({"kafka.bootstrap.servers": broker.bootstrap, **options})
    write(iter([pa.RecordBatch.from_pydict(columns)]), given)


def received(broker: Broker, topic: str, partition: int, count: int) -> list[dict[str, Any]]:
    given = {
        "kafka.bootstrap.servers": broker.bootstrap, "subscribe": topic, "includeHeaders": "true",
    }  # fmt: skip
    batches = read(Range(topic, partition, 0, count), read_options(given, streaming=False))
    return [row for batch in batches for row in batch.to_pylist()]


def test_every_column_arrives(broker: Broker) -> None:
    topic = broker.create_topic("sent", partitions=2)
    headers = [[{"key": "a", "value": b"1"}, {"key": "a", "value": None}], None]
    columns = {
        "topic": [topic, topic],
        "key": [b"k", None],
        "value": ["text", None],
        "partition": pa.array([1, 1], pa.int32()),
        "headers": pa.array(headers, HEADERS),
        "more": [1, 2],
    }
    send(broker, columns)
    rows = received(broker, topic, 1, 2)
    assert [(row["key"], row["value"]) for row in rows] == [(b"k", b"text"), (None, None)]
    assert [row["headers"] for row in rows] == headers


def test_more_than_fits_into_the_queue_is_sent_in_turn(broker: Broker, ottla_topic: str) -> None:
    values = [b"v%d" % number for number in range(3_000)]
    narrow = {"kafka.queue.buffering.max.messages": "100", "topic": ottla_topic}
    send(broker, {"value": values}, **narrow)
    assert [row["value"] for row in received(broker, ottla_topic, 0, 3_000)] == values


def test_what_the_broker_refuses_fails_the_task_and_the_next_one_is_not_told(
    broker: Broker,
) -> None:
    topic = broker.create_topic("narrow", configs={"max.message.bytes": 1_000})
    with pytest.raises(WriteFailed, match="1 rows: narrow: Broker: Message size too large"):
        send(broker, {"value": [b"v" * 5_000]}, topic=topic)
    send(broker, {"value": [b"v"]}, topic=topic)
    assert len(received(broker, topic, 0, 1)) == 1
