"""The shared session does what pipelines build on: connector, Delta, state, Arrow, quiet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ottla.testing.broker import Broker
from ottla.testing.topics import create_topic
from tests.kafka.peer import KafkaPeer
from tests.pipelines.postgres import Postgres


def test_the_settings_are_ours(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.sparkContext.uiWebUrl is None


def test_rows_go_through_arrow_in_our_python(spark: SparkSession) -> None:
    def double(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = [2 * number for number in batch.column("id").to_pylist()]
            yield pa.record_batch({"id": pa.array(numbers)})

    rows = spark.range(4).mapInArrow(double, "id long").collect()
    assert sorted(row.id for row in rows) == [0, 2, 4, 6]


def test_a_delta_table_is_written_and_read(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    spark.range(3).write.format("delta").save(path)
    spark.range(2).write.format("delta").mode("append").save(path)
    assert spark.read.format("delta").load(path).count() == 5


def test_the_connector_reads_what_it_wrote_to_ottla(
    spark: SparkSession, broker: Broker, ottla_topic: str
) -> None:
    assert _round_trip(spark, broker.bootstrap, ottla_topic) == ["0", "1", "2"]


def test_the_connector_reads_what_it_wrote_to_apache_kafka(
    spark: SparkSession, kafka391: KafkaPeer
) -> None:
    create_topic(kafka391.bootstrap, "round-trip", partitions=2, configs={})
    kafka391.wait_for(["round-trip"])
    assert _round_trip(spark, kafka391.bootstrap, "round-trip") == ["0", "1", "2"]


def _round_trip(spark: SparkSession, bootstrap: str, topic: str) -> list[str]:
    kafka = {"kafka.bootstrap.servers": bootstrap}
    values = spark.range(3).select(F.col("id").cast("string").alias("value"))
    values.write.format("kafka").options(**kafka, topic=topic).save()
    read = spark.read.format("kafka").options(**kafka, subscribe=topic).load()
    return sorted(row.value.decode() for row in read.select("value").collect())


def test_state_is_kept_in_rocksdb(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source"
    spark.range(6).select((F.col("id") % 2).alias("key")).write.parquet(str(source))
    counts = spark.readStream.schema("key long").parquet(str(source)).groupBy("key").count()
    query = (
        counts.writeStream.format("noop")
        .outputMode("update")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert query.awaitTermination(60)
    progress: Any = query.lastProgress
    (state,) = progress["stateOperators"]
    assert state["numRowsTotal"] == 2
    assert "rocksdbPutCount" in state["customMetrics"]


def test_every_test_can_have_a_database_of_its_own(postgres: Postgres) -> None:
    first, second = postgres.database(), postgres.database()
    with psycopg.connect(first) as one:
        one.execute("create table t (n int)")
    with psycopg.connect(second) as other:
        assert other.execute("select to_regclass('t')").fetchone() == (None,)
