"""Into a folder of Parquet files, put together and read by the manifest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.folder import HadoopFolder, LocalFolder
from ottla.pipelines.sinks import parquet
from ottla.pipelines.sinks.parquet import ParquetSink, newest, read_parquet
from ottla.pipelines.sinks.port import Batch, SinkRefused


class Died(Exception):
    pass


def opened(
    spark: SparkSession, path: str, *, most_parts: int = 3, app: str = "flow.0"
) -> ParquetSink:
    sink = ParquetSink(spark, path, app=app, most_parts=most_parts)
    sink.open()
    return sink


def rows(spark: SparkSession, number: int) -> DataFrame:
    return spark.range(10 * number, 10 * number + 10, 1, 1)


def ids(spark: SparkSession, path: str) -> list[int]:
    return sorted(row.id for row in read_parquet(spark, path).select("id").collect())


def write(spark: SparkSession, sink: ParquetSink, number: int) -> int:
    return sink.write(rows(spark, number), Batch(number, {}, tuple))


def test_batches_are_read_back_once_each(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "a folder")
    sink = opened(spark, path)
    assert sink.last_batch() == -1
    assert [write(spark, sink, number) for number in range(2)] == [10, 10]
    assert opened(spark, path).last_batch() == 1
    assert opened(spark, path, app="flow.1").last_batch() == -1
    assert ids(spark, path) == list(range(20))
    assert (tmp_path / "a folder" / "app=flow.0" / "batch=1").is_dir()


def test_a_replay_into_the_same_folder_leaves_what_is_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path)
    write(spark, opened(spark, path), 0)
    write(spark, opened(spark, path, app="flow.replay-1.0"), 0)
    assert ids(spark, path) == sorted([*range(10), *range(10)])


def test_many_folders_become_one_and_the_old_ones_go_the_next_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path)
    sink = opened(spark, path)
    for number in range(5):
        write(spark, sink, number)
    manifest = newest(LocalFolder(path))
    assert [(part.level, part.rows) for part in manifest.parts] == [(1, 30), (0, 10), (0, 10)]
    assert (tmp_path / manifest.retired[0]).is_dir()
    write(spark, sink, 5)
    assert not (tmp_path / manifest.retired[0]).exists()
    assert ids(spark, path) == list(range(60))


@pytest.mark.parametrize("step", ["write the batch", "name it", "put together", "name that"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_death_at_any_step_leaves_each_row_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, moment: str
) -> None:
    path = str(tmp_path)
    sink = opened(spark, path)
    for number in range(2):
        write(spark, sink, number)
    # The batch and its part, then all three together.
    turn = 0 if step in ("write the batch", "name it") else 1
    owner: Any = LocalFolder if step.startswith("name") else None
    name = "write" if owner else "parquet"
    if owner is None:
        owner = type(rows(spark, 0).write)
    monkeypatch.setattr(owner, name, dying(getattr(owner, name), turn, moment))
    with pytest.raises(Died):
        write(spark, sink, 2)
    monkeypatch.undo()
    whole = newest(LocalFolder(path)).batches["flow.0"] + 1
    assert ids(spark, path) == list(range(10 * whole))
    again = opened(spark, path)
    for number in range(again.last_batch() + 1, 5):
        write(spark, again, number)
    assert ids(spark, path) == list(range(50))


def dying(function: Callable[..., Any], turn: int, moment: str) -> Callable[..., Any]:
    """Raises at that call: for a folder's files the same as if the process had ended there."""
    calls = iter(range(99))

    def called(*arguments: Any, **named: Any) -> Any:
        is_it = next(calls) == turn
        if is_it and moment == "before":
            raise Died
        done = function(*arguments, **named)
        if is_it:
            raise Died
        return done

    return called


def test_a_column_that_came_later_or_stopped_coming_is_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path)
    sink = opened(spark, path)
    frames = ["1 as id, 'a' as old", "2 as id, 'b' as new", "3 as id, 'c' as new"]
    for number, frame in enumerate(frames):
        sink.write(spark.sql(f"select {frame}"), Batch(number, {}, tuple))
    found = {row.id: (row.old, row.new) for row in read_parquet(spark, path).collect()}
    assert found == {1: ("a", None), 2: (None, "b"), 3: (None, "c")}


def test_a_folder_of_empty_batches_has_columns_and_no_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = opened(spark, str(tmp_path))
    assert sink.write(spark.range(5).where("id > 7"), Batch(0, {}, tuple)) == 0
    assert read_parquet(spark, str(tmp_path)).columns == ["id"]
    assert ids(spark, str(tmp_path)) == []


def test_a_second_run_is_noticed(spark: SparkSession, tmp_path: Path) -> None:
    old = opened(spark, str(tmp_path))
    write(spark, opened(spark, str(tmp_path)), 0)
    with pytest.raises(SinkRefused, match=r"written by another run of flow\.0 meanwhile"):
        write(spark, old, 0)


def test_a_folder_reached_through_hadoop_is_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "open_folder", HadoopFolder)
    path = f"file:{tmp_path}"
    sink = opened(spark, path, most_parts=2)
    for number in range(3):
        write(spark, sink, number)
    assert opened(spark, path).last_batch() == 2
    assert ids(spark, path) == list(range(30))


def test_a_folder_that_nobody_wrote_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere: no pipeline has written anything there"):
        read_parquet(spark, str(tmp_path / "nowhere"))
