"""Into a Delta table, exactly once: Delta keeps the number of a batch in the commit of its rows.

With a key, rows of the same key are replaced, and the last one of a batch stays.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.declaration import DeltaTable
from ottla.pipelines.folder import open_folder
from ottla.pipelines.schema import quoted_column
from ottla.pipelines.sinks.counting import counted
from ottla.pipelines.sinks.parquet import location
from ottla.pipelines.sinks.port import Batch, Guarantee, SinkRefused

log = logging.getLogger(__name__)

_APP = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"
_ROWS = "ottla_rows"
_ORDER = "_ottla_order"
_BATCHES_OF_A_COMPACTION = 64


class DeltaSink:
    guarantee = Guarantee.EXACTLY_ONCE
    takes_offsets = False
    sees_rows = False

    def __init__(
        self,
        spark: SparkSession,
        place: DeltaTable,
        *,
        app: str,
        compact_every: int = _BATCHES_OF_A_COMPACTION,
    ) -> None:
        self._spark: Any = spark
        self._place = place
        self._app = app
        self._compact_every = compact_every
        self._path = location(open_folder(place.path, spark))
        self._last_batch = -1

    def open(self) -> None:
        java = self._spark._jvm
        try:
            is_there = java.io.delta.tables.DeltaTable.isDeltaTable(self._session, self._path)
        except TypeError as cause:  # a class that is not there is taken for a package
            raise SinkRefused(
                f"{self._place.path}: Spark runs without Delta's jars; `ottla spark jars` gets them"
            ) from cause
        if is_there:
            logs = java.org.apache.spark.sql.delta.DeltaLog
            logs.clearCache()  # what another process wrote since, it would not see
            snapshot = logs.forTable(self._session, self._path).unsafeVolatileSnapshot()
            written = snapshot.transactions().get(self._app)
            self._last_batch = int(written.get()) if written.isDefined() else -1
        self._is_there = bool(is_there)

    @property
    def _session(self) -> Any:
        return self._spark._jsparkSession

    def last_batch(self) -> int:
        return self._last_batch

    def write(self, frame: DataFrame, batch: Batch) -> int:
        count = self._merge(frame, batch) if self._place.key else self._append(frame, batch)
        self._is_there = True
        self._last_batch = batch.id
        if (batch.id + 1) % self._compact_every == 0:
            self._compact()
        return count

    def _append(self, frame: DataFrame, batch: Batch) -> int:
        rows, count = counted(frame)
        writer = rows.write.format("delta").mode("append").option("mergeSchema", "true")
        writer.option("txnAppId", self._app).option("txnVersion", batch.id).save(self._path)
        return count()

    def _merge(self, frame: DataFrame, batch: Batch) -> int:
        if missing := [name for name in self._place.key if name not in frame.columns]:
            raise SinkRefused(
                f"Delta table {self._place.path}: its key has the column {missing[0]!r}, which the "
                f"rows do not have. They have: {', '.join(frame.columns)}"
            )
        # Delta looks at them more than once; worked out they are only once.
        kept = frame.persist()
        try:
            last = last_of_each(kept, self._place.key)
            if self._is_there:
                self._merge_rows(last, batch.id)
            else:
                self._append(last, batch)
            return kept.count()
        finally:
            kept.unpersist()

    def _merge_rows(self, rows: DataFrame, batch: int) -> None:
        # A batch has a session of its own, a copy of ours, and there its view and settings are.
        spark = rows.sparkSession
        rows.createOrReplaceTempView(_ROWS)
        names = [quoted_column(name) for name in self._place.key]
        same = " and ".join(f"old.{name} <=> new.{name}" for name in names)
        with _numbered(spark, self._app, batch):
            spark.sql(
                f"merge with schema evolution into {self._table} as old using {_ROWS} as new "
                f"on {same} when matched then update set * when not matched then insert *"
            )
        spark.catalog.dropTempView(_ROWS)

    def _compact(self) -> None:
        try:
            self._spark.sql(f"optimize {self._table}")
        except PySparkException as cause:
            # The rows are safe, and the next time is soon.
            log.warning("Delta table %s could not be compacted: %s", self._place.path, cause)

    @property
    def _table(self) -> str:
        return f"delta.{quoted_column(self._path)}"

    def close(self) -> None: ...


@contextlib.contextmanager
def _numbered(spark: SparkSession, app: str, batch: int) -> Iterator[None]:
    """A statement has no options; Delta takes them from the session."""
    spark.conf.set(_APP, app)
    spark.conf.set(_VERSION, str(batch))
    try:
        yield
    finally:
        spark.conf.unset(_APP)
        spark.conf.unset(_VERSION)


def last_of_each(frame: DataFrame, key: Sequence[str]) -> DataFrame:
    """One row of each key: the last in the order of its task."""
    columns = [F.col(quoted_column(name)) for name in frame.columns]
    keys = [F.col(quoted_column(name)) for name in key]
    ordered = frame.select(*columns, F.monotonically_increasing_id().alias(_ORDER))
    last = ordered.groupBy(*keys).agg(F.max_by(F.struct(*columns), F.col(_ORDER)).alias(_ROWS))
    return last.select(f"{_ROWS}.*")
