"""Sinks to try things with: the console, a view in memory, and one that keeps nothing."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.sinks.counting import counted
from ottla.pipelines.sinks.port import Batch, Guarantee
from ottla.pipelines.sinks.transaction import NO_BATCH


class NoopSink:
    """Works out every row and keeps none."""

    guarantee = Guarantee.NONE
    takes_offsets = False
    sees_rows = False

    def open(self) -> None: ...

    def last_batch(self) -> int:
        return NO_BATCH

    def write(self, frame: DataFrame, batch: Batch) -> int:
        rows, count = counted(frame)
        rows.write.format("noop").mode("overwrite").save()
        return count()

    def close(self) -> None: ...


class ConsoleSink(NoopSink):
    def __init__(self, rows: int) -> None:
        self._rows = rows

    def write(self, frame: DataFrame, batch: Batch) -> int:
        # All of it: dead letters are complete only when every row has been worked out.
        table = frame.toArrow()
        shown = frame.sparkSession.createDataFrame(table.slice(0, self._rows), frame.schema)
        shown.show(self._rows, truncate=False)
        return int(table.num_rows)


class MemorySink(NoopSink):
    """A temporary view of all rows so far; a batch that comes again replaces itself.

    Batches come in a session of their query's own, whose views nobody else would see.
    """

    def __init__(self, name: str, spark: SparkSession) -> None:
        self._name = name
        self._spark = spark
        self._tables: dict[int, Any] = {}

    def write(self, frame: DataFrame, batch: Batch) -> int:
        table = self._tables[batch.id] = frame.toArrow()
        rows = pa.concat_tables(self._tables.values())
        self._spark.createDataFrame(rows, frame.schema).createOrReplaceTempView(self._name)
        return int(table.num_rows)
