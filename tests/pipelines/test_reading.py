"""Reading on Spark: rows, counts and dead letters of a stream, without a broker."""

from __future__ import annotations

import datetime
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.declaration import Avro, Format, Rule, Text
from ottla.pipelines.declare import between, files, noop, not_null, pipeline, topic, unique
from ottla.pipelines.declare import json as json_format
from ottla.pipelines.reading.leaving import Leaving
from ottla.pipelines.reading.side import OUT, READ, Side
from ottla.pipelines.reading.stage import read
from ottla.pipelines.reading.tally import Counts, Slot, Tally
from ottla.pipelines.reading.wire import header
from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.sinks.rows import arrow_batches
from ottla.pipelines.sources.files import stream
from tests.pipelines import registry

CRC = zlib.crc32(b"k")
MINUTE = 1_700_000_040_000 // 60_000
RECORD = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp,"
    " timestampType int, headers array<struct<key: string, value: binary>>"
)
SHAPE = {"user": "string", "amount": "int or null", "at": "timestamp or null"}


class Written:
    """Records in files, as many as one says, which a stream reads as if from a topic."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self.path = str(folder / "records")

    def write(self, *values: bytes | None, partition: int = 0, minute: int = MINUTE) -> None:
        time = datetime.datetime.fromtimestamp(minute * 60, datetime.UTC)
        rows = [
            (b"k", value, "views", partition, offset, time, 0, [("h", b"x")])
            for offset, value in enumerate(values)
        ]
        frame = self._spark.createDataFrame(rows, RECORD).coalesce(1)
        frame.write.mode("append").parquet(self.path)

    def stream(self) -> DataFrame:
        return self._spark.readStream.schema(RECORD).parquet(self.path)

    def run(self, frame: DataFrame, each: Callable[[DataFrame, int], None]) -> None:
        query = (
            frame.writeStream.foreachBatch(each)
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


@pytest.fixture
def records(spark: SparkSession, tmp_path: Path) -> Written:
    return Written(spark, tmp_path)


def counted_out(frame: DataFrame, side: Side) -> DataFrame:
    leaving = Leaving(side, topic=None)
    return leaving.in_tasks(leaving.packed(frame))


Batch = tuple[list[Any], Tally, Tally, list[DeadLetter]]


def letters_of(side: Side) -> list[DeadLetter]:
    return [DeadLetter._make(each) for each in side.dead_letters()]


def read_all(
    spark: SparkSession, records: Written, *rules: Rule, format: Format, where: str = "true"
) -> Batch:
    """One batch: its rows, the counts of reading and of the function, its dead letters."""

    @pipeline(
        source=topic("views", format=format),
        sink=noop(),
        dead_letters=topic("views.dlq"),
        contract=rules,
    )
    def chosen(events: DataFrame) -> DataFrame:
        return events.where(where)

    side = Side(spark)
    batches: list[Batch] = []

    def each(frame: DataFrame, _: int) -> None:
        counted = counted_out(chosen.function(frame), side)
        counted.write.format("noop").mode("append").save()
        rows = counted.collect()  # once more: what tasks say again counts once
        batches.append((rows, side.tally(READ), side.tally(OUT), letters_of(side)))
        side.clear()

    records.run(read(records.stream(), chosen.sources[0], chosen, side, name="views"), each)
    (batch,) = batches
    return batch


def test_a_batch_gives_rows_counts_and_dead_letters(spark: SparkSession, records: Written) -> None:
    """Through a shuffle, since `unique` needs one."""
    records.write(
        b'{"user": "a", "amount": 5, "at": "2026-01-01T00:00:00Z"}',
        b"{",
        b'{"user": "b", "amount": 50}',
        b'{"amount": 5}',
    )
    records.write(b'{"user": "a", "amount": 1}', b'{"user": "c", "amount": 7}', partition=1)
    rules = between("amount", 0, 10, otherwise="drop"), unique("user")
    rows, read_tally, out, letters = read_all(
        spark, records, *rules, format=json_format(SHAPE), where="amount < 6"
    )
    assert [tuple(row) for row in rows] == [("a", 5, datetime.datetime(2026, 1, 1))]
    assert [(letter.partition, letter.offset, letter.rule) for letter in letters] == [
        (0, 1, "malformed"),
        (0, 3, "not null in schema"),
        (1, 0, "unique(user)"),
    ]
    assert letters[2].value == b'{"user": "a", "amount": 1}'
    assert letters[2].headers == (("h", b"x"),)
    zero, one = Slot("views", 0, MINUTE), Slot("views", 1, MINUTE)
    dropped = {"between(amount)": 1}
    assert read_tally.counts == {
        zero: Counts(4, 1, 2, dropped, key_sum=4 * CRC, passed_sum=CRC),
        one: Counts(2, 1, 1, key_sum=2 * CRC, passed_sum=CRC),
    }
    # The function kept `_origin`, and one of the two rows.
    assert out.counts == {zero: Counts(passed=1, passed_sum=CRC)}


def test_text_and_tombstones_are_read_and_counted(spark: SparkSession, records: Written) -> None:
    records.write(b"one", None, b"\xff")
    rows, tally, _, letters = read_all(spark, records, format=Text())
    assert [tuple(row) for row in rows] == [("k", "one"), ("k", None)]
    assert (tally.total().passed, len(letters)) == (2, 1)


def test_avro_of_a_registry_is_read_in_tasks(spark: SparkSession, records: Written) -> None:
    schema = {
        "type": "record",
        "name": "View",
        "fields": [
            {"name": "user", "type": "string"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
    with registry.running() as served:
        id = served.register("views-value", json.dumps(schema))
        good = header(id) + b"\x02a\xd0\x0f"
        records.write(good, header(99), good[:-1], *[good] * 20)
        rows, tally, out, letters = read_all(spark, records, format=Avro(registry=served.url))
        # By the driver for the columns; by workers once, however many of them there are.
        assert len(served.asked) <= 1 + 2 * 2
    assert [tuple(row) for row in rows] == [("a", datetime.datetime(1970, 1, 1, 0, 0, 1))] * 21
    assert [letter.error for letter in letters] == [
        "the registry has no schema 99",
        "the value ends too early, or has a branch that its schema lacks",
    ]
    assert (tally.total().records_in, out.total().passed) == (23, 21)


ORIGINS = """values
    (1, named_struct('topic', 'a', 'partition', 3, 'timestamp', timestamp_millis(119999),
                     'key_crc', 5L)),
    (2, named_struct('topic', 'b', 'partition', 16777215, 'timestamp', timestamp_millis(-1),
                     'key_crc', 4294967295L)),
    (3, named_struct('topic', 'a', 'partition', 0, 'timestamp', null, 'key_crc', 0L)),
    (4, named_struct('topic', 'a', 'partition', 3, 'timestamp', timestamp_millis(60000),
                     'key_crc', 6L)),
    (5, null),
    (6, named_struct('topic', 'a', 'partition', 9, 'timestamp', timestamp_millis(1700000000000000),
                     'key_crc', 7L)) as (id, _origin)"""


@pytest.mark.parametrize("only", [None, "a"])
def test_rows_are_counted_alike_by_tasks_and_on_the_driver(
    spark: SparkSession, only: str | None
) -> None:
    """Even those without a time, from before 1970, and from nowhere, as outer joins make them."""
    found: list[Tally] = []
    for ways in ("tasks", "driver"):
        side = Side(spark)
        leaving = Leaving(side, topic=only)
        packed = leaving.packed(spark.sql(ORIGINS))
        if ways == "tasks":
            rows = [row.id for row in leaving.in_tasks(packed).collect()]
        else:
            batches = leaving.on_driver(arrow_batches(packed))
            rows = [row["id"] for batch in batches for row in batch.to_pylist()]
        assert sorted(rows) == [1, 2, 3, 4, 5, 6]
        found.append(side.tally(OUT))
    assert found[0] == found[1]
    assert found[0].counts == {
        Slot("a", 3, 1): Counts(passed=2, passed_sum=11),
        Slot(only or "b", 2**24 - 1, -1): Counts(passed=1, passed_sum=2**32 - 1),
        Slot("a", 0, 0): Counts(passed=1),
        Slot("a", 9, 1_700_000_000_000 // 60): Counts(passed=1, passed_sum=7),
    }


def test_rows_without_an_origin_are_not_counted_out(spark: SparkSession, records: Written) -> None:
    """A function that groups has no single record that a row came from."""
    records.write(b'{"user": "a", "amount": 1}', b'{"user": "a", "amount": 2}')

    @pipeline(source=topic("views", format=json_format(SHAPE)), sink=noop())
    def sums(events: DataFrame) -> DataFrame:
        return events.groupBy("user").sum("amount")

    side = Side(spark)
    frame = spark.read.schema(RECORD).parquet(records.path)
    grouped = sums.function(read(frame, sums.sources[0], sums, side, name="views"))
    assert counted_out(grouped, side) is grouped
    assert [tuple(row) for row in grouped.collect()] == [("a", 3)]
    assert side.tally(READ).total().passed == 2
    assert side.tally(OUT) == Tally()


def test_a_rule_that_stops_is_heard_by_the_driver(spark: SparkSession, records: Written) -> None:
    records.write(b'{"user": "a"}')
    rule = not_null("amount", otherwise="stop")
    with pytest.raises(StreamingQueryException, match=r"OTTLA-STOP not_null\(amount\): views-0 at"):
        read_all(spark, records, rule, format=json_format(SHAPE))


def test_rows_of_files_keep_a_contract_too(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    lines = ['{"user": "a", "amount": 5}', '{"amount": 1}', "poison", '{"user": "b"}']
    (folder / "a.json").write_text("\n".join(lines))
    source = files(str(folder), SHAPE)

    @pipeline(source=source, sink=noop(), dead_letters=topic("dlq"), contract=[not_null("amount")])
    def whole(rows: DataFrame) -> DataFrame:
        return rows

    side = Side(spark)
    frame = read(stream(spark, source), source, whole, side, name="files")
    rows: list[tuple[Any, ...]] = []

    def keep(batch: DataFrame, _: int) -> None:
        rows.extend(tuple(row) for row in batch.collect())

    writer = counted_out(frame, side).writeStream.foreachBatch(keep).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(120)
    assert rows == [("a", 5, None)]
    total = side.tally(READ).total()
    assert (total.records_in, total.passed, total.dead) == (4, 1, 3)
    place = f"file:{folder}/a.json"
    assert [(letter[:3], letter.rule, letter.value) for letter in letters_of(side)] == [
        ((place, 0, 1), "not null in schema", b'{"amount":1}'),
        ((place, 0, 2), "malformed", b"poison"),
        ((place, 0, 3), "not_null(amount)", b'{"user":"b"}'),
    ]
