"""Into a Delta table, added or replaced by key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from ottla.pipelines.declaration import DeltaTable
from ottla.pipelines.sinks.delta import DeltaSink
from ottla.pipelines.sinks.port import Batch, SinkRefused


def opened(
    spark: SparkSession, path: Path, *key: str, app: str = "flow.0", compact_every: int = 64
) -> DeltaSink:
    sink = DeltaSink(spark, DeltaTable(str(path), key), app=app, compact_every=compact_every)
    sink.open()
    return sink


def batch(number: int) -> Batch:
    return Batch(number, {}, tuple)


def pairs(spark: SparkSession, *rows: tuple[int | None, str]) -> DataFrame:
    return spark.createDataFrame(rows, "id long, name string").coalesce(1)


def rows_of(spark: SparkSession, path: Path) -> list[Row]:
    return spark.read.format("delta").load(str(path)).sort("id").collect()


def test_rows_are_added_with_new_columns_and_the_batch_remembered(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "a table"
    sink = opened(spark, path, compact_every=2)
    assert sink.last_batch() == -1
    assert sink.write(pairs(spark, (1, "a"), (2, "b")), batch(0)) == 2
    assert sink.write(spark.sql("select 3L as id, 'c' as name, true as new"), batch(1)) == 1
    assert opened(spark, path).last_batch() == 1
    assert opened(spark, path, app="flow.1").last_batch() == -1
    found = [tuple(row) for row in rows_of(spark, path)]
    assert found == [(1, "a", None), (2, "b", None), (3, "c", True)]
    table: Any = spark.sql(f"describe detail delta.`{path}`").first()
    assert table.numFiles == 1  # many small files became one


def test_rows_of_the_same_key_are_replaced_and_the_last_of_a_batch_stays(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = opened(spark, tmp_path, "id")
    assert sink.write(pairs(spark, (1, "a"), (None, "b"), (1, "c")), batch(0)) == 3
    wider = spark.sql("select null as id, 'd' as name, true as new")
    assert sink.write(wider, batch(1)) == 1
    # Delta itself leaves a batch alone that it has.
    sink.write(pairs(spark, (1, "e")), batch(1))
    assert opened(spark, tmp_path, "id").last_batch() == 1
    found = [tuple(row) for row in rows_of(spark, tmp_path)]
    assert found == [(None, "d", True), (1, "c", None)]
    assert spark.conf.get("spark.databricks.delta.write.txnAppId", None) is None


def test_a_key_that_the_rows_do_not_have_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SinkRefused, match=r"column 'nobody', which the rows .* id, name"):
        opened(spark, tmp_path, "nobody").write(pairs(spark, (1, "a")), batch(0))
