"""Into a topic by every task at once, at least once: a batch that is repeated is written again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.datasource.source import FORMAT, register
from ottla.pipelines.declaration import Topic
from ottla.pipelines.sinks.counting import counted
from ottla.pipelines.sinks.port import Batch, Guarantee
from ottla.pipelines.sinks.records import encoder_of, to_records

_OLD_WAY = "spark.sql.sources.useV1SourceList"


class ParallelTopicSink:
    guarantee = Guarantee.AT_LEAST_ONCE
    takes_offsets = False
    sees_rows = False

    def __init__(self, spark: SparkSession, topic: Topic, *, bootstrap: str) -> None:
        self._spark = spark
        self._topic = topic
        self._bootstrap = bootstrap

    def open(self) -> None:
        self._encoder = encoder_of(self._topic)
        self._format = "kafka" if has_connector(self._spark) else FORMAT
        if self._format == FORMAT:
            register(self._spark)

    def last_batch(self) -> int:
        return -1

    def write(self, frame: DataFrame, batch: Batch) -> int:
        rows, count = counted(to_records(frame, self._topic, self._encoder))
        addressed_rows = addressed(rows, self._topic)
        writer = addressed_rows.write.format(self._format).mode("append")
        with _newer_way(frame.sparkSession):
            writer.options(**write_options(self._topic, bootstrap=self._bootstrap)).save()
        return count()

    def close(self) -> None: ...


@contextlib.contextmanager
def _newer_way(spark: SparkSession) -> Iterator[None]:
    """Spark writes to Kafka by an old interface unless told otherwise, and then counts nothing."""
    usual = spark.conf.get(_OLD_WAY) or ""
    others = [name for name in usual.split(",") if name != "kafka"]
    spark.conf.set(_OLD_WAY, ",".join(others))
    try:
        yield
    finally:
        spark.conf.set(_OLD_WAY, usual)


def has_connector(spark: SparkSession) -> bool:
    java: Any = spark.sparkContext._jvm
    found = java.org.apache.spark.sql.kafka010.KafkaSourceProvider
    return type(found).__name__ == "JavaClass"  # what is not there is taken for a package


def write_options(topic: Topic, *, bootstrap: str) -> dict[str, str]:
    given = {
        name if name.startswith("kafka.") else f"kafka.{name}": value
        for name, value in topic.options.items()
    }
    return {**given, "kafka.bootstrap.servers": bootstrap}


def addressed(records: DataFrame, topic: Topic) -> DataFrame:
    """With the topic in each row: an option for it would win over what a row says."""
    named = F.lit(topic.name)
    if "topic" in records.columns:
        named = F.coalesce(F.col("topic"), named)
    return records.withColumn("topic", named)
