"""What a pipeline sets for its own query, and for nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.declaration import Noop, Pipeline, Trigger
from ottla.pipelines.running.query import SettingRefused, start_in_batches

SHUFFLES = "spark.sql.shuffle.partitions"
UNHEARD = "spark.sql.ottla.unheard"


def test_settings_hold_for_the_query_and_not_for_the_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    before = spark.conf.get(SHUFFLES)
    seen: list[tuple[str | None, ...]] = []

    def look(frame: DataFrame, _: int) -> None:
        conf = frame.sparkSession.conf
        seen.append((conf.get(SHUFFLES), conf.get(UNHEARD)))

    pipeline = Pipeline(
        "p", lambda rows: rows, (), Noop(), trigger=Trigger(once=True),
        settings={SHUFFLES: "17", UNHEARD: "yes"},
    )  # fmt: skip
    rows = spark.readStream.text(str(tmp_path / "in"))
    query = start_in_batches(pipeline, rows, look, checkpoint=str(tmp_path / "checkpoint"))
    assert query.awaitTermination(120)
    assert seen == [("17", "yes")]
    assert spark.conf.get(SHUFFLES) == before
    assert spark.conf.get(UNHEARD, None) is None


def test_what_only_a_session_can_be_told_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(
        "p", lambda rows: rows, (), Noop(),
        settings={SHUFFLES: "17", "spark.sql.warehouse.dir": "/x"},
    )  # fmt: skip
    before = spark.conf.get(SHUFFLES)
    rows = spark.readStream.format("rate").load()
    with pytest.raises(SettingRefused, match=r"--conf spark\.sql\.warehouse\.dir=/x"):
        start_in_batches(pipeline, rows, lambda *_: None, checkpoint=str(tmp_path))
    assert spark.conf.get(SHUFFLES) == before
