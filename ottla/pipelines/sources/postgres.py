"""A PostgreSQL table as a stream, in the order of a column that only grows: a key, or a time.

A value can become visible after a greater one: its transaction took it earlier and ended later. So
a value is read up to only once all transactions have ended that were open when it was first seen.
A row that is changed comes again if its column grew with it; one that is deleted is just gone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructField, StructType

from ottla.pipelines.declaration import ORIGIN, Table
from ottla.pipelines.reading.origin import ORIGIN_SCHEMA
from ottla.pipelines.reading.stopping import StopsPipeline
from ottla.pipelines.sources.postgres_table import (
    GrowingTable,
    connect,
    describe,
    open_transactions,
)

log = logging.getLogger(__name__)

_FORMAT = "ottla-postgres"
_LOOK_AGAIN_S = 0.05
_LOOKS = 20  # before an endless query says that there is nothing new yet
_LOOKS_OF_ONE_RUN = 1_200  # a minute's

Offset = dict[str, Any]  # `position`: the last value as text, "" before the first; `seen_ms`


class TransactionsOpen(StopsPipeline):
    """They may still add rows before the last one; a single run cannot wait for ever."""


def stream(spark: SparkSession, source: Table) -> DataFrame:
    """The table's columns and `_origin`: the table, the position as its offset, and its time.

    The time of a row is the column's, if that is a time; else when the row was first seen.
    """
    schema, table = describe(source)
    spark.dataSource.register(TableSource)
    fields = [*schema, StructField(ORIGIN, ORIGIN_SCHEMA)]
    options = _to_options(source, table)
    return spark.readStream.format(_FORMAT).schema(StructType(fields)).options(**options).load()


def _to_options(source: Table, table: GrowingTable) -> dict[str, str]:
    """As text, for another process. What is called `url` Spark does not show in its plans."""
    return {
        **table._asdict(),
        "is_time": "1" if table.is_time else "",
        "topic": source.table,
        "at_once": str(source.at_once),
        "looks": str(_LOOKS),
        "looks_of_one_run": str(_LOOKS_OF_ONE_RUN),
    }


class TableSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def streamReader(self, schema: StructType) -> TableReader:
        return TableReader(self.options, schema)


class Rows(InputPartition):
    def __init__(self, *, after: str, up_to: str, seen_ms: int) -> None:
        super().__init__(None)
        self.after = after
        self.up_to = up_to
        self.seen_ms = seen_ms


class _Candidate(NamedTuple):
    offset: Offset
    open: dict[str, str]  # the transactions that were when it was seen


class TableReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans on the driver, where it lives as long as the query; a copy reads in the tasks."""

    def __init__(self, options: MutableMapping[str, str], schema: StructType) -> None:
        known: dict[str, Any] = {name: options[name] for name in GrowingTable._fields}
        self._table = GrowingTable(**{**known, "is_time": bool(known["is_time"])})
        self._topic = options["topic"]
        self._at_once = int(options["at_once"])
        self._looks = int(options["looks"])
        self._looks_of_one_run = int(options["looks_of_one_run"])
        self._schema = schema
        self._connection: Any = None
        self._candidate: _Candidate | None = None
        self._is_one_run = False
        self._last: str | None = None  # of one run: nothing is read beyond

    def __getstate__(self) -> Mapping[str, Any]:
        return {**self.__dict__, "_connection": None}

    def initialOffset(self) -> Offset:
        return {"position": "", "seen_ms": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._at_once)

    def prepareForTriggerAvailableNow(self) -> None:
        self._is_one_run = True
        newest = self._table.newest(self._connected(), after="", up_to=None, most=None)
        self._last = newest.position if newest else None

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        candidate = self._candidate or self._look(start, most)
        if candidate is None:
            return start
        if still := self._wait_for(candidate):
            self._candidate = candidate
            return self._unsettled(still, start)
        self._candidate = None
        return candidate.offset

    def _look(self, start: Offset, most: int | None) -> _Candidate | None:
        if self._is_one_run and self._last is None:
            return None
        newest = self._table.newest(
            self._connected(), after=start["position"], up_to=self._last, most=most
        )
        if newest is None:
            return None
        # In this order: who is not open any more has ended, and what it added is visible.
        offset = {"position": newest.position, "seen_ms": newest.at_ms}
        return _Candidate(offset, open_transactions(self._connected()))

    def _wait_for(self, candidate: _Candidate) -> list[str]:
        """Those who are open still, at last."""
        still = candidate.open
        for _ in range(self._looks_of_one_run if self._is_one_run else self._looks):
            now = open_transactions(self._connected()) if still else {}
            still = {name: who for name, who in still.items() if name in now}
            if not still:
                break
            self._connected().execute("select pg_sleep(%s)", [_LOOK_AGAIN_S])
        return list(still.values())

    def _unsettled(self, still: Sequence[str], start: Offset) -> Offset:
        who = ", ".join(still)
        told = f"table {self._topic} may still get rows before its last from open transactions"
        if self._is_one_run:
            raise TransactionsOpen(f"{told}: {who}; end them, or run when they have ended")
        log.warning("%s: %s", told, who)
        return start

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        if start["position"] == end["position"]:
            return []
        return [Rows(after=start["position"], up_to=end["position"], seen_ms=end["seen_ms"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Rows)
        schema = to_arrow_schema(self._schema, timezone="UTC")
        for rows in self._table.rows(after=partition.after, up_to=partition.up_to):
            *columns, offsets = zip(*rows, strict=True)
            kinds = zip(columns, schema, strict=False)
            arrays = [pa.array(values, field.type) for values, field in kinds]
            arrays.append(self._origins(offsets, partition.seen_ms, schema.field(ORIGIN).type))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _origins(self, offsets: Sequence[int], seen_ms: int, kind: Any) -> Any:
        count = len(offsets)
        columns = {
            "topic": [self._topic] * count,
            "partition": [0] * count,
            "offset": offsets,
            "timestamp": offsets if self._table.is_time else [seen_ms * 1000] * count,
            "key": [None] * count,
            "key_crc": [0] * count,
        }
        arrays = [pa.array(columns[field.name], field.type) for field in kind]
        return pa.StructArray.from_arrays(arrays, fields=list(kind))

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> Any:
        if self._connection is None:
            self._connection = connect(self._table.url)
        return self._connection
