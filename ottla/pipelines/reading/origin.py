"""Where a row came from: the columns that go with it, and what is made of them when it ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import types as spark

from ottla.pipelines.declaration import Otherwise
from ottla.pipelines.reading.counting import Slots
from ottla.pipelines.reading.headers import unpacked
from ottla.pipelines.reading.stopping import RuleStopsPipeline
from ottla.pipelines.reading.verdict import Removed, Verdict
from ottla.pipelines.repair.letter import DeadLetter

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
RAW = "_raw"  # what a dead letter needs besides; dropped before the pipeline's function
RAW_SCHEMA = spark.StructType(
    [
        spark.StructField("value", spark.BinaryType()),
        spark.StructField("headers", spark.StringType()),  # packed
    ]
)


def gathered(records: pa.RecordBatch, schema: spark.StructType) -> Any:
    """The columns of these names as one structure."""
    names = schema.names
    return pa.StructArray.from_arrays([records.column(name) for name in names], names=names)


def slots(origin: Any) -> Slots:
    return Slots(
        topic=origin.field("topic"),
        partition=origin.field("partition"),
        timestamp=origin.field("timestamp"),
        key_crc=origin.field("key_crc"),
    )


class Letters(NamedTuple):
    """Dead letters of one rule, in columns: so they go from task to driver at little cost."""

    records: pa.RecordBatch
    rule: str
    errors: list[str]

    def opened(self) -> list[DeadLetter]:
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
        return list(map(DeadLetter._make, zip(*columns, strict=True)))


def dead_letters(origin: Any, raw: Any, verdict: Verdict) -> list[Letters]:
    """Raises where a rule stops the pipeline instead."""
    letters: list[Letters] = []
    for removed in verdict.removed:
        if removed.otherwise is Otherwise.STOP:
            (first,) = _letters(origin, raw, removed, most=1).opened()
            place = f"{first.topic}-{first.partition} at offset {first.offset}"
            raise RuleStopsPipeline(first.rule, f"{place}: {first.error}")
        if removed.otherwise is Otherwise.DEAD_LETTER:
            letters.append(_letters(origin, raw, removed))
    return letters


def _letters(origin: Any, raw: Any, removed: Removed, *, most: int | None = None) -> Letters:
    at = pa.array(removed.indexes[:most])
    columns = {field.name: origin.field(field.name).take(at) for field in origin.type}
    columns |= {field.name: raw.field(field.name).take(at) for field in raw.type}
    return Letters(pa.record_batch(columns), removed.rule, removed.errors[:most])
