"""Every sink that says exactly once, what is in it, and one that protects nothing.

The last is the control: where it has no duplicates, a test would prove nothing for the others.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.declaration import (
    DatabaseTable,
    DeltaTable,
    Json,
    Noop,
    ParquetFolder,
    SinkPlace,
    Topic,
)
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.sinks.parquet import read_parquet
from ottla.pipelines.sinks.port import Batch, Guarantee
from tests.pipelines.sinks.topics import values

NAMES = ["topic", "parquet", "delta", "delta-by-key", "postgresql", "sqlite", "duckdb"]
CONTROL = "control"


@dataclass(frozen=True)
class Kept:
    """A sink and how to read it, by means that have nothing to do with how it is written."""

    place: SinkPlace
    ids: Callable[[], list[int]]


def kept(
    name: str, folder: Path, *, spark: SparkSession, cluster: Cluster, topic: str, postgres: str
) -> Kept:
    path = str(folder / name)
    match name:
        case "topic":
            return Kept(
                Topic((topic,), Json()),
                lambda: sorted(json.loads(text)["id"] for text in values(cluster.bootstrap, topic)),
            )
        case "parquet":
            return Kept(ParquetFolder(path), lambda: _of_frame(read_parquet(spark, path)))
        case "delta" | "delta-by-key":
            key = ("id",) if name == "delta-by-key" else ()
            return Kept(
                DeltaTable(path, key),
                lambda: _of_frame(spark.read.format("delta").load(f"file:{path}")),
            )
        case "postgresql":
            return Kept(
                DatabaseTable(postgres, "rows"), lambda: _of_rows(psycopg.connect(postgres))
            )
        case "sqlite":
            return Kept(
                DatabaseTable(f"sqlite:{path}", "rows"), lambda: _of_rows(sqlite3.connect(path))
            )
        case "duckdb":
            return Kept(
                DatabaseTable(f"duckdb:{path}", "rows"), lambda: _of_rows(duckdb.connect(path))
            )
    assert name == CONTROL
    # The runner makes a Noop's sink by `make_sink`, which the tests let make this one instead.
    return Kept(Noop(), lambda: sorted(UnprotectedSink.rows))


def _of_frame(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


def _of_rows(connection: Any) -> list[int]:
    found = sorted(row[0] for row in connection.execute("select id from rows").fetchall())
    connection.close()
    return found


class UnprotectedSink:
    """Keeps what it is given, and does not ask whether it was given it before."""

    guarantee = Guarantee.NONE
    takes_offsets = False
    sees_rows = False
    rows: list[int] = []  # noqa: RUF012 - outlives the runs, as a table would

    def open(self) -> None: ...

    def last_batch(self) -> int:
        return -1

    def write(self, frame: DataFrame, batch: Batch) -> int:
        found = [row.id for row in frame.select("id").collect()]
        self.rows.extend(found)
        self.commit()
        return len(found)

    def commit(self) -> None:
        """Too late: the rows are there already."""

    def close(self) -> None: ...
