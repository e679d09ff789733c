"""The reading of one source as Spark does it: decode, check and count in one pass over Arrow.

Rows come out with the decoded fields at the top level and `_origin`, which says what record a row
was. The raw bytes go further only if a later rule could still make a dead letter of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from pyspark.sql.pandas.functions import arrow_udf

from ottla.pipelines.declaration import ORIGIN, Folder, Otherwise, Pipeline, Rule, Source, Topic
from ottla.pipelines.reading import contract
from ottla.pipelines.reading.counting import Slots, count, count_passed
from ottla.pipelines.reading.decoded import Decoder
from ottla.pipelines.reading.formats import decoder
from ottla.pipelines.reading.headers import packed
from ottla.pipelines.reading.origin import (
    ORIGIN_SCHEMA,
    RAW,
    RAW_SCHEMA,
    dead_letters,
    gathered,
    slots,
)
from ottla.pipelines.reading.side import OUT, READ, Chunk, Outlet, Side
from ottla.pipelines.reading.unique import UniqueStage
from ottla.pipelines.reading.verdict import judge
from ottla.pipelines.reading.whole import CORRUPT, ROW, RowDecoder
from ottla.pipelines.sources.line_numbers import LineNumbers

_iterating: Any = arrow_udf  # it knows what is iterated by the hints; its own types do not
_COUNTED = ("topic", "partition", "timestamp", "key_crc")


class ReadingStage:
    """Pickled into the tasks of Spark's `mapInArrow`."""

    def __init__(
        self,
        decoder: Decoder,
        rules: Sequence[Rule],
        malformed: Otherwise,
        outlet: Outlet,
        *,
        has_lines: bool = False,
    ) -> None:
        self._decoder = decoder
        self._rules = [rule for rule in rules if rule.kind != contract.UNIQUE]
        self._keeps_raw = len(self._rules) < len(rules)
        self._malformed = malformed
        self._outlet = outlet
        self._has_lines = has_lines  # of files, to be counted

    @property
    def schema(self) -> spark.StructType:
        fields = [*self._decoder.schema, spark.StructField(ORIGIN, ORIGIN_SCHEMA)]
        if self._keeps_raw:
            fields.append(spark.StructField(RAW, RAW_SCHEMA))
        return spark.StructType(fields)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        chunk, lines = Chunk(), LineNumbers()
        for records in batches:
            if len(records):
                yield self.read(lines.numbered(records) if self._has_lines else records, chunk)
        self._outlet.tell(chunk)

    def read(self, records: pa.RecordBatch, chunk: Chunk) -> pa.RecordBatch:
        decoded = self._decoder.decode(records)
        verdict = judge(decoded, self._rules, malformed=self._malformed)
        origin, raw = gathered(records, ORIGIN_SCHEMA), gathered(records, RAW_SCHEMA)
        count(chunk.tally, slots(origin), verdict)
        if verdict.removed:
            chunk.dead_letters += dead_letters(origin, raw, verdict)
        columns = [*decoded.rows.flatten(), origin] + [raw] * self._keeps_raw
        rows = pa.RecordBatch.from_arrays(columns, names=self.schema.names)
        return rows.filter(pa.array(verdict.passed)) if verdict.removed else rows


def read(
    stream: DataFrame, source: Source, pipeline: Pipeline, side: Side, *, name: str
) -> DataFrame:
    """The whole reading of one source. Its counts are told under `READ` and the name."""
    stage = f"{READ}{name}"
    if isinstance(source, Topic):
        records, decoding = _records(stream), decoder(source.format, topic=source.name)
    else:
        records, decoding = _rows(stream), RowDecoder(_declared(stream, source))
    reading = ReadingStage(
        decoding,
        pipeline.contract,
        pipeline.malformed,
        side.outlet(stage),
        has_lines=CORRUPT in stream.columns,
    )
    frame = records.mapInArrow(reading, reading.schema)
    for rule in pipeline.contract:
        if rule.kind == contract.UNIQUE:
            unique = UniqueStage(rule, side.outlet(f"{stage}.{rule.name}"))
            frame = frame.repartition(F.col(rule.column)).mapInArrow(unique, frame.schema)
    return frame.drop(RAW)


def _records(stream: DataFrame) -> DataFrame:
    """The connector's columns; headers are there only if it was told to read them."""
    key_crc = F.coalesce(F.crc32("key"), F.lit(0).cast("long"))
    columns = ["key", "value", "topic", "partition", "offset", "timestamp"]
    has_headers = "headers" in stream.columns
    headers = packed(F.col("headers")) if has_headers else F.lit(None).cast("string")
    return stream.select(*columns, headers.alias("headers"), key_crc.alias("key_crc"))


def _declared(stream: DataFrame, source: Source) -> spark.StructType:
    if isinstance(source, Folder):
        return source.schema
    return spark.StructType([field for field in stream.schema if field.name != ORIGIN])


def _rows(stream: DataFrame) -> DataFrame:
    """Rows of files and tables, as if each were a record: its value is its line, or its JSON."""
    names = [name for name in stream.columns if name not in (ORIGIN, CORRUPT)]
    row = F.struct(*[F.col(f"`{name}`") for name in names])
    line = [F.col(CORRUPT)] if CORRUPT in stream.columns else []
    return stream.select(
        row.alias(ROW),
        *line,
        f"{ORIGIN}.*",
        F.coalesce(*line, F.to_json(row)).cast("binary").alias("value"),
        F.lit(None).cast("string").alias("headers"),
    )


def count_out(frame: DataFrame, side: Side) -> DataFrame:
    """Counts the function's rows under `OUT` by their `_origin`, if that is left, and drops it."""
    if ORIGIN not in frame.columns:
        return frame
    counting = _iterating(_counter(side.outlet(OUT)), "boolean")
    counted = frame.where(
        counting.asNondeterministic()(*[F.col(f"{ORIGIN}.{name}") for name in _COUNTED])
    )
    return counted.drop(ORIGIN)


def _counter(outlet: Outlet) -> Any:
    def count_rows(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        chunk = Chunk()
        for columns in batches:
            if len(columns[0]):
                at = Slots(**dict(zip(_COUNTED, columns, strict=True)))
                count_passed(chunk.tally, at)
            yield pa.array([True] * len(columns[0]))
        outlet.tell(chunk)

    return count_rows
