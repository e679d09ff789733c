"""`spark.read.format("ottla")`: the connector's answer, row by row, to the same options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from ottla.pipelines.datasource.source import register
from ottla.testing.broker import Broker
from tests.pipelines.topics import delete_before, fill, transact

TOPIC = "batch-orders"
NOON_MS = 1_769_860_800_000
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture(scope="module")
def orders(spark: SparkSession, broker: Broker) -> Iterator[str]:
    """Partition 0: plain, with headers; 1: transactions, at last an aborted one; 2: begins at 4."""
    register(spark)
    address = broker.bootstrap
    broker.create_topic(TOPIC, partitions=3)
    for minute in range(10):
        header = [("minute", str(minute).encode())] if minute % 2 else None
        time_ms = NOON_MS + 60_000 * minute
        fill(address, TOPIC, [f"v{minute}"], partition=0, headers=header, timestamp=time_ms)
    transact(address, TOPIC, ["one", "two"], commit=True, partition=1)
    transact(address, TOPIC, ["three"], commit=False, partition=1)
    fill(address, TOPIC, [None, "a", "b", "c", "d", "e"], partition=2, key="k", timestamp=NOON_MS)
    delete_before(address, TOPIC, 4, partition=2)
    yield TOPIC
    broker.delete_topic(TOPIC)


def load(spark: SparkSession, broker: Broker, form: str = "ottla", **options: str) -> DataFrame:
    given = {"kafka.bootstrap.servers": broker.bootstrap, **options}
    if not any(name in given for name in ("assign", "subscribe", "subscribePattern")):
        given["subscribe"] = TOPIC
    return spark.read.format(form).options(**given).load()


def rows(frame: DataFrame) -> list[Row]:
    return sorted(frame.collect(), key=lambda row: (row.partition, row.offset))


EACH = '{"batch-orders":{"0":%s,"1":%s,"2":%s}}'


@pytest.mark.parametrize(
    "options",
    [
        {"includeHeaders": "true"},
        {"kafka.isolation.level": "read_committed"},
        {"startingOffsets": EACH % (3, 1, -2), "endingOffsets": EACH % (8, -1, 5)},
        {"startingTimestamp": str(NOON_MS + 200_000), "endingTimestamp": str(NOON_MS + 400_000),
         "startingOffsetsByTimestampStrategy": "latest"},
        {"startingOffsetsByTimestamp": EACH % (NOON_MS + 300_000, 0, NOON_MS)},
        {"endingOffsetsByTimestamp": EACH % (NOON_MS + 300_000, NOON_MS, NOON_MS)},
        {"subscribePattern": "batch-.*", "minPartitions": "7"},
        {"assign": '{"batch-orders":[0,2]}', "maxRecordsPerPartition": "4"},
    ],
    ids=lambda options: next(iter(options)),
)  # fmt: skip
def test_rows_are_the_connectors(
    spark: SparkSession, broker: Broker, orders: str, options: dict[str, str]
) -> None:
    theirs = load(spark, broker, "kafka", **options)
    ours = load(spark, broker, **options)
    assert ours.schema == theirs.schema
    assert rows(ours) == rows(theirs)
    assert rows(ours)


def test_large_ranges_are_shared_by_more_tasks(
    spark: SparkSession, broker: Broker, orders: str
) -> None:
    assert load(spark, broker).rdd.getNumPartitions() == 3
    assert load(spark, broker, minPartitions="6").rdd.getNumPartitions() >= 6
    assert load(spark, broker, maxRecordsPerPartition="2").rdd.getNumPartitions() == 5 + 3 + 1


@pytest.mark.parametrize(
    ("condition", "tasks", "count"),
    [
        ("partition = 0", 1, 10),
        ("topic = 'batch-orders' and partition in (0, 2)", 2, 12),
        ("partition = 0 and offset >= 8", 1, 2),
        ("offset < 3", 2, 5),
        ("timestamp >= '2026-01-31 12:05:00' and partition = 0 and timestampType = 0", 1, 5),
        ("topic = 'elsewhere'", 1, 0),
    ],
)
def test_what_no_row_can_satisfy_is_not_read(
    spark: SparkSession, broker: Broker, orders: str, condition: str, tasks: int, count: int
) -> None:
    found = load(spark, broker).where(condition)
    assert found.count() == count
    assert found.rdd.getNumPartitions() == tasks


def test_without_pruning_the_answer_is_the_same(
    spark: SparkSession, broker: Broker, orders: str
) -> None:
    spark.conf.set(PUSHDOWN, "false")
    try:
        found = load(spark, broker).where("partition = 0 and offset >= 8")
        assert found.count() == 2
        assert found.rdd.getNumPartitions() == 3
    finally:
        spark.conf.set(PUSHDOWN, "true")


def test_deleted_records_that_were_asked_for_are_named(
    spark: SparkSession, broker: Broker, orders: str
) -> None:
    start = {"startingOffsets": EACH % (0, 0, 1)}
    with pytest.raises(PySparkException, match="batch-orders-2: offsets 1 to 3: deleted before"):
        load(spark, broker, **start).collect()
    left = rows(load(spark, broker, **start, failOnDataLoss="false"))
    assert [row.offset for row in left if row.partition == 2] == [4, 5]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"includeheader": "true"}, "no such option: includeheader; did you mean includeHeaders"),
        ({"subscribe": "nowhere"}, "no such topic or partition: nowhere"),
        ({"assign": '{"batch-orders":[0,9]}'}, "no such topic or partition: batch-orders-9"),
        ({"startingOffsets": '{"batch-orders":{"0":1}}'}, "lacks batch-orders-1, batch-orders-2"),
        ({"endingOffsets": EACH % (12, -1, -1)}, "offsets 10 to 11: the partition ends at offset"),
        ({"startingTimestamp": str(NOON_MS + 10**9)}, "no record is as late as the starting time"),
        ({"kafka.max.pol.records": "5"}, "No such configuration property: .*max.pol.records"),
    ],
    ids=lambda each: str(each)[:30],
)
def test_what_cannot_be_read_is_said(
    spark: SparkSession, broker: Broker, orders: str, options: dict[str, str], why: str
) -> None:
    with pytest.raises(PySparkException, match=why):
        load(spark, broker, **options).collect()
