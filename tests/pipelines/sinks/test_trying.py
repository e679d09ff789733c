"""The sinks to try things with."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from ottla.pipelines.sinks.port import Batch
from ottla.pipelines.sinks.trying import ConsoleSink, MemorySink, NoopSink


def batch(number: int) -> Batch:
    return Batch(number, {}, tuple)


def test_a_view_in_memory_holds_each_batch_once(spark: SparkSession) -> None:
    sink = MemorySink("trying", spark)
    assert sink.write(spark.range(3), batch(0)) == 3
    assert sink.write(spark.range(10, 12), batch(1)) == 2
    assert sink.write(spark.range(10, 12), batch(1)) == 2
    assert [row.id for row in spark.table("trying").sort("id").collect()] == [0, 1, 2, 10, 11]


def test_the_console_shows_the_first_rows_and_counts_all(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ConsoleSink(2).write(spark.range(100, 105), batch(0)) == 5
    shown = capsys.readouterr().out
    assert "|100|" in shown
    assert "|102|" not in shown


def test_the_sink_that_keeps_nothing_counts(spark: SparkSession) -> None:
    assert NoopSink().write(spark.range(5), batch(0)) == 5
    assert NoopSink().write(spark.range(5).where("id > 7"), batch(1)) == 0
    assert NoopSink().write(spark.range(5).where("false"), batch(2)) == 0
