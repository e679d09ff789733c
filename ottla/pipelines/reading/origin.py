"""Where a row came from: the columns that go with it, and what is made of them when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from ottla.pipelines.declaration import ALONG, ORIGIN, Otherwise
from ottla.pipelines.reading.counting import Slots, place
from ottla.pipelines.reading.headers import unpacked
from ottla.pipelines.reading.stopping import RuleStopsPipeline
from ottla.pipelines.reading.verdict import Removed, Verdict
from ottla.pipelines.repair.letter import BareLetter, DeadLetter
from ottla.pipelines.schema import quoted_column

ORIGIN_SCHEMA = spark.StructType(
    [
        spark.StructField("topic", spark.StringType()),
        spark.StructField("partition", spark.IntegerType()),
        spark.StructField("offset", spark.LongType()),
        spark.StructField("timestamp", spark.TimestampType()),
        spark.StructField("key", spark.BinaryType()),
        spark.StructField("key_crc", spark.LongType()),
    ]
)
RAW_SCHEMA = spark.StructType(
    [
        spark.StructField("value", spark.BinaryType()),
        spark.StructField("headers", spark.StringType()),  # packed
    ]
)
_KINDS = {field.name: field.dataType for field in (*ORIGIN_SCHEMA, *RAW_SCHEMA)}
# What goes through Python and back with each row; Spark itself can add the rest of its origin.
CARRIED = ("partition", "offset", "timestamp", "key")
_ALWAYS = ("topic", "partition", "offset", "timestamp")  # so that Spark need not look for null
_PREFIX = f"{ORIGIN}_"
RESERVED = frozenset((ORIGIN, *ALONG, *(_PREFIX + name for name in _KINDS)))


class Baggage:
    """The columns that a row has on its way besides its own, until `_origin` is made of them."""

    def __init__(self, *, topic: str | None, is_whole: bool) -> None:
        """`topic`: the only one there is. Whole: with all that a dead letter needs."""
        self.topic = topic
        self.is_whole = is_whole
        self._names = tuple(_KINDS) if is_whole else CARRIED
        if topic is None and not is_whole:
            self._names = ("topic", *CARRIED)

    @property
    def fields(self) -> list[spark.StructField]:
        return [
            spark.StructField(_PREFIX + name, _KINDS[name], nullable=name not in _ALWAYS)
            for name in self._names
        ]

    def columns(self, records: pa.RecordBatch) -> list[Any]:
        return [records.column(name) for name in self._names]

    def unpacked(self, frame: DataFrame) -> DataFrame:
        """With `_origin` instead of these."""
        own = [name for name in frame.columns if name not in RESERVED]
        values = {name: F.col(_PREFIX + name) for name in CARRIED}
        topic = F.col(f"{_PREFIX}topic") if self.topic is None else F.lit(self.topic)
        return frame.select(
            *(F.col(quoted_column(name)) for name in own), origin(topic=topic, **values)
        )


def origin(
    *, topic: Column, partition: Column, offset: Column, timestamp: Column, key: Column
) -> Column:
    values = {
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "timestamp": timestamp,
        "key": key,
        "key_crc": key_crc(key),
    }
    typed = [values[each.name].cast(each.dataType).alias(each.name) for each in ORIGIN_SCHEMA]
    return F.struct(*typed).alias(ORIGIN)


def key_crc(key: Column) -> Column:
    """No key counts as nothing."""
    return F.coalesce(F.crc32(key.cast("binary")), F.lit(0).cast("long"))


def carried(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The baggage of rows under the names that it had as columns of records."""
    names = [name for name in _KINDS if _PREFIX + name in rows.schema.names]
    return pa.record_batch({name: rows.column(_PREFIX + name) for name in names})


def slots(records: pa.RecordBatch, *, topic: str | None = None) -> Slots:
    return Slots(
        topic=topic or records.column("topic"),
        place=place(records.column("partition"), records.column("timestamp")),
        key_crc=records.column("key_crc").to_numpy(),
    )


class Letters(NamedTuple):
    """Dead letters of one rule, in columns: so they go from task to driver at little cost."""

    records: pa.RecordBatch
    rule: str
    errors: list[str]

    def opened(self) -> Iterator[BareLetter]:
        column = self.records.column
        times_us = column("timestamp").cast(pa.int64()).fill_null(0).to_pylist()
        columns = [
            *(column(name).to_pylist() for name in ("topic", "partition", "offset")),
            [time_us // 1000 for time_us in times_us],
            column("key").to_pylist(),
            column("value").to_pylist(),
            [headers or () for headers in unpacked(column("headers"))],
            [self.rule] * len(self.errors),
            self.errors,
        ]
        return zip(*columns, strict=True)


def dead_letters(records: pa.RecordBatch, verdict: Verdict) -> list[Letters]:
    """Raises where a rule stops the pipeline instead."""
    letters: list[Letters] = []
    for removed in verdict.removed:
        if removed.otherwise is Otherwise.STOP:
            (first,) = map(DeadLetter._make, _letters(records, removed, most=1).opened())
            place = f"{first.topic}-{first.partition} at offset {first.offset}"
            raise RuleStopsPipeline(first.rule, f"{place}: {first.error}")
        if removed.otherwise is Otherwise.DEAD_LETTER:
            letters.append(_letters(records, removed))
    return letters


def _letters(records: pa.RecordBatch, removed: Removed, *, most: int | None = None) -> Letters:
    at = pa.array(removed.indexes[:most])
    return Letters(records.select(list(_KINDS)).take(at), removed.rule, removed.errors[:most])
