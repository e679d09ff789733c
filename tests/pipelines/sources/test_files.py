"""Folders as streams: each file once, lines that cannot be read kept, every row with its place."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from ottla.pipelines.declare import files
from ottla.pipelines.sources.files import stream

SHAPE = {"id": "long", "name": "string or null", "at": "timestamp or null"}
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


class Reading:
    """A query that reads what is new in the folder, each time it is asked."""

    def __init__(self, spark: SparkSession, folder: Path, format: str, **options: str) -> None:
        self.folder = folder / "in"
        self.folder.mkdir()
        self._checkpoint = str(folder / "checkpoint")
        source = files(str(self.folder), SHAPE, format=format, **options)
        self._frame = stream(spark, source)

    def write(self, name: str, text: str, *, at: datetime = NEW_YEAR) -> Path:
        draft = self.folder / f".{name}"
        draft.write_text(text, encoding="utf-8")
        os.utime(draft, (at.timestamp(), at.timestamp()))
        return draft.rename(self.folder / name)

    def read(self) -> list[Row]:
        rows: list[Row] = []

        def keep(batch: DataFrame, _: int) -> None:
            rows.extend(batch.collect())

        writer = self._frame.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query = writer.option("checkpointLocation", self._checkpoint).start()
        assert query.awaitTermination(120)
        return rows


def plain(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [(row.id, row.name, row._corrupt) for row in rows]


def test_each_file_is_read_once_however_old_it_is(spark: SparkSession, tmp_path: Path) -> None:
    reading = Reading(spark, tmp_path, "json")
    reading.write("a.json", '{"id": 1, "name": "one"}\n{"id": 2}\n')
    assert plain(reading.read()) == [(1, "one", None), (2, None, None)]
    reading.write("b.json", '{"id": 3}\n', at=datetime(2020, 1, 1, tzinfo=UTC))
    assert plain(reading.read()) == [(3, None, None)]
    reading.write("a.json", '{"id": 4}\n', at=datetime(2026, 1, 2, tzinfo=UTC))
    assert reading.read() == []


def test_a_row_knows_its_file_and_the_files_time(spark: SparkSession, tmp_path: Path) -> None:
    reading = Reading(spark, tmp_path, "json")
    path = reading.write("a.json", '{"id": 1}\n{"id": 2}\n')
    origins = [row._origin for row in reading.read()]
    assert [origin.topic for origin in origins] == [f"file:{path}"] * 2
    assert [origin.offset for origin in origins] == [0, 0]
    assert {(origin.partition, origin.key, origin.key_crc) for origin in origins} == {(0, None, 0)}
    assert {origin.timestamp.astimezone(UTC) for origin in origins} == {NEW_YEAR}


def test_a_line_that_is_no_json_or_of_another_type_is_kept_as_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    reading = Reading(spark, tmp_path, "json")
    bad = ["{", '{"id": "x"}', "[1]", "\ufffd", '{"id": 1, "at": "soon"}']
    reading.write("a.json", "\n".join(['{"id": 1}', *bad, '{"id": 2}']))
    rows = reading.read()
    assert [row._corrupt for row in rows] == [None, *bad, None]
    assert (rows[0].id, rows[-1].id) == (1, 2)


def test_a_line_of_csv_with_too_few_too_many_or_wrong_fields_is_kept_as_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    reading = Reading(spark, tmp_path, "csv", header="true")
    bad = ["1", "1,a,,more", "x,a,"]
    good = '7,"a, b",2026-01-01T00:00:00Z'
    reading.write("a.csv", "\n".join(["id,name,at", good, *bad]))
    rows = reading.read()
    assert [row._corrupt for row in rows] == [None, *bad]
    assert (rows[0].id, rows[0].name) == (7, "a, b")
    assert rows[0].at.astimezone(UTC) == NEW_YEAR


def test_a_csv_whose_header_names_other_columns_stops_the_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    reading = Reading(spark, tmp_path, "csv", header="true")
    reading.write("a.csv", "name,id,at\na,1,\n")
    with pytest.raises(PySparkException, match="header does not conform"):
        reading.read()


def test_rows_of_parquet_have_their_number_in_the_file(spark: SparkSession, tmp_path: Path) -> None:
    made = spark.createDataFrame([(7, "a"), (8, "b")], "id long, name string").coalesce(1)
    made.write.parquet(str(tmp_path / "made"))
    reading = Reading(spark, tmp_path, "parquet")
    for number, part in enumerate(sorted((tmp_path / "made").glob("*.parquet"))):
        part.rename(reading.folder / f"{number}.parquet")
    rows = reading.read()
    assert [(row.id, row.name) for row in rows] == [(7, "a"), (8, "b")]
    assert [row._origin.offset for row in rows] == [0, 1]
