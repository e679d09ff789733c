"""`write.format("ottla")` and `writeStream`: columns and partitions as the connector's sink."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from ottla.pipelines.datasource.source import register
from ottla.testing.broker import Broker
from ottla.testing.topics import create_topic
from tests.kafka.peer import KafkaPeer

ROWS = """
    select cast(id as string) as key, cast(concat('v', id) as binary) as value,
      if(id % 2 = 0, array(named_struct('key', 'n', 'value', cast('x' as binary))), null) headers,
      'left out' as other
    from range(60)
"""


@pytest.fixture(scope="module", autouse=True)
def registered(spark: SparkSession) -> None:
    register(spark)


def write(frame: DataFrame, bootstrap: str, form: str = "ottla", **options: str) -> None:
    given = {"kafka.bootstrap.servers": bootstrap, **options}
    frame.write.format(form).options(**given).mode("append").save()


def read(spark: SparkSession, bootstrap: str, topic: str, form: str = "kafka") -> list[Row]:
    given = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "includeHeaders": "true"}
    found = spark.read.format(form).options(**given).load()
    return sorted(found.select("key", "value", "headers", "partition").collect(), key=str)


def test_records_go_where_the_connector_would_send_them(
    spark: SparkSession, broker: Broker
) -> None:
    for form in ("ottla", "kafka"):
        broker.create_topic(f"sunk-by-{form}", partitions=5)
        write(spark.sql(ROWS), broker.bootstrap, form, topic=f"sunk-by-{form}")
    ours = read(spark, broker.bootstrap, "sunk-by-ottla")
    assert len(ours) == 60
    assert ours == read(spark, broker.bootstrap, "sunk-by-kafka")


def test_a_row_may_name_its_topic_and_partition(
    spark: SparkSession, broker: Broker, ottla_topic: str
) -> None:
    other = broker.create_topic("sunk-elsewhere", partitions=3)
    query = f"select '{other}' as topic, 2 as partition, cast(null as string) as value"
    write(spark.sql(query), broker.bootstrap)
    assert [row.partition for row in read(spark, broker.bootstrap, other)] == [2]
    write(spark.sql(query.replace("2 as", "0 as")), broker.bootstrap, topic=ottla_topic)
    assert [row.value for row in read(spark, broker.bootstrap, ottla_topic)] == [None]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("select 'x' as key", "there is no column `value`"),
        ("select 5 as value", "column `value` must be string or binary: int"),
        ("select '0' as partition, 'x' as value", "column `partition` must be int: string"),
        ("select 9 as partition, 'x' as value", "Unknown partition"),
    ],
)
def test_what_cannot_be_written_is_said(
    spark: SparkSession, broker: Broker, ottla_topic: str, query: str, why: str
) -> None:
    with pytest.raises(PySparkException, match=why):
        write(spark.sql(query), broker.bootstrap, topic=ottla_topic)


def test_a_row_without_a_topic_is_refused(spark: SparkSession, broker: Broker) -> None:
    with pytest.raises(PySparkException, match="its column `topic` is null"):
        write(spark.sql("select cast(null as string) as topic, 'x' as value"), broker.bootstrap)
    with pytest.raises(PySparkException, match="neither a column `topic` nor the option topic"):
        write(spark.sql("select 'x' as value"), broker.bootstrap)


def test_a_stream_goes_from_topic_to_topic_on_apache_kafka(
    spark: SparkSession, kafka391: KafkaPeer, tmp_path: Path
) -> None:
    address = {"kafka.bootstrap.servers": kafka391.bootstrap}
    for name in ("jarless-in", "jarless-out"):
        create_topic(kafka391.bootstrap, name, partitions=2, configs={})
    kafka391.wait_for(["jarless-in", "jarless-out"])
    write(spark.sql(ROWS), kafka391.bootstrap, topic="jarless-in")
    source = spark.readStream.format("ottla").options(
        **address, subscribe="jarless-in", startingOffsets="earliest", includeHeaders="true"
    )
    sink = source.load().select("key", "value", "headers").writeStream.format("ottla")
    query = (
        sink.options(**address, topic="jarless-out", checkpointLocation=str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = read(spark, kafka391.bootstrap, "jarless-out", "ottla")
    assert len(found) == 60
    assert found == read(spark, kafka391.bootstrap, "jarless-in")
