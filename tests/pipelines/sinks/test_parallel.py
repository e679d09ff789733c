"""Into a topic at least once: by every task, with and without jars, and within milliseconds."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.declaration import Avro, Csv, Json, Otherwise, Protobuf, Raw, Text, Topic
from ottla.pipelines.schema import structure
from ottla.pipelines.sinks import parallel
from ottla.pipelines.sinks.parallel import ParallelTopicSink
from ottla.pipelines.sinks.port import Batch, Guarantee, SinkRefused
from ottla.pipelines.sinks.realtime import native_rows, start_realtime
from ottla.testing.broker import Broker
from tests.pipelines.sinks.topics import values

NUMBERS = count()
ORDER = structure({"id": "long", "name": "string or null"})


@pytest.fixture
def out(broker: Broker) -> str:
    return broker.create_topic(f"parallel-{next(NUMBERS)}", partitions=2)


@pytest.mark.parametrize("has_jars", [True, False])
def test_every_task_writes_and_a_repeated_batch_is_written_again(
    spark: SparkSession,
    broker: Broker,
    out: str,
    has_jars: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parallel.has_connector(spark)
    monkeypatch.setattr(parallel, "has_connector", lambda _: has_jars)
    topic = Topic((out,), Json(), key="id", delivery="parallel")
    sink = ParallelTopicSink(spark, topic, bootstrap=broker.bootstrap)
    sink.open()
    assert sink.guarantee is Guarantee.AT_LEAST_ONCE
    for _ in range(2):
        assert sink.write(spark.range(3), Batch(0, {}, tuple)) == 3
    assert values(broker.bootstrap, out) == sorted(2 * ['{"id":0}', '{"id":1}', '{"id":2}'])
    assert sink.last_batch() == -1


def test_a_row_may_name_another_topic(spark: SparkSession, broker: Broker, out: str) -> None:
    other = broker.create_topic(f"{out}-other")
    sink = ParallelTopicSink(spark, Topic((out,), Text()), bootstrap=broker.bootstrap)
    sink.open()
    rows = spark.createDataFrame([("a", other), ("b", None)], "value string, topic string")
    sink.write(rows, Batch(0, {}, tuple))
    assert values(broker.bootstrap, other) == ["a"]
    assert values(broker.bootstrap, out) == ["b"]


def test_records_arrive_in_real_time(
    spark: SparkSession, broker: Broker, out: str, tmp_path: Path
) -> None:
    source = broker.create_topic(f"{out}-in")
    stream = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker.bootstrap)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
    )
    rows = native_rows(stream, Json(ORDER), malformed=Otherwise.DROP)
    query = start_realtime(
        rows.where("id > 0").withColumn("name", F.upper("name")),
        Topic((out,), Json(), key="id", delivery="realtime"),
        bootstrap=broker.bootstrap,
        checkpoint=str(tmp_path),
        name="realtime",
        every="5 seconds",
    )
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for text in ('{"id": 1, "name": "a"}', "{poison", '{"id": 0}', '{"id": 2}'):
        producer.produce(source, text)
    producer.flush()
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": out, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([out])
    found = consumer.consume(2, 60)
    consumer.close()
    query.stop()
    assert sorted((each.key(), json.loads(each.value() or b"")["id"]) for each in found) == [
        (b"1", 1),
        (b"2", 2),
    ]


def test_spark_decodes_by_itself_what_real_time_can_read(spark: SparkSession) -> None:
    stream = spark.sql(
        "select cast('k' as binary) as key, cast(v as binary) as value, null as headers "
        "from values ('1;a'), ('x;b') as t(v)"
    )
    read = native_rows(stream, Csv(ORDER, delimiter=";"), malformed=Otherwise.DROP)
    assert [tuple(row) for row in read.collect()] == [(1, "a")]
    assert native_rows(stream, Raw(), malformed=Otherwise.STOP).columns == [
        "key",
        "value",
        "headers",
    ]
    assert native_rows(stream, Text(), malformed=Otherwise.STOP).first() == ("k", "1;a")
    with pytest.raises(Exception, match="MALFORMED"):
        native_rows(stream, Json(ORDER), malformed=Otherwise.STOP).collect()
    with pytest.raises(SinkRefused, match="only raw, text, JSON and CSV records can be read"):
        native_rows(stream, Avro(), malformed=Otherwise.STOP)
    with pytest.raises(SinkRefused, match="only raw, text, JSON and CSV records can be written"):
        start_realtime(
            stream, Topic(("t",), Protobuf("m")), bootstrap="", checkpoint="", name="realtime"
        )
