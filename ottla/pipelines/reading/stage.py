"""The reading of one source as Spark does it: decode, check and count in one pass over Arrow.

Rows come out with the decoded fields at the top level and `_origin`, which says what record a row
was. Every column that crosses to Python and back costs something for each record: so the name of an
only topic does not cross at all, and the raw bytes go further only if a later rule could still make
a dead letter of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from ottla.pipelines.declaration import (
    ORIGIN,
    Folder,
    Otherwise,
    Pipeline,
    Rule,
    Source,
    Topic,
    only_topic,
)
from ottla.pipelines.reading import contract
from ottla.pipelines.reading.counting import count
from ottla.pipelines.reading.decoded import Decoder
from ottla.pipelines.reading.formats import decoder
from ottla.pipelines.reading.headers import packed
from ottla.pipelines.reading.origin import CARRIED, Baggage, dead_letters, key_crc, slots
from ottla.pipelines.reading.side import READ, Chunk, Outlet, Side
from ottla.pipelines.reading.unique import UniqueStage
from ottla.pipelines.reading.verdict import judge
from ottla.pipelines.reading.whole import CORRUPT, ROW, RowDecoder
from ottla.pipelines.schema import quoted_column
from ottla.pipelines.sources.line_numbers import LineNumbers


class ReadingStage:
    """Pickled into the tasks of Spark's `mapInArrow`."""

    def __init__(
        self,
        decoder: Decoder,
        rules: Sequence[Rule],
        malformed: Otherwise,
        outlet: Outlet,
        *,
        topic: str | None = None,
        has_lines: bool = False,
    ) -> None:
        """`topic`: of all records, which then do not say it themselves."""
        self._decoder = decoder
        self._rules = [rule for rule in rules if rule.kind != contract.UNIQUE]
        self.baggage = Baggage(topic=topic, is_whole=len(self._rules) < len(rules))
        self._malformed = malformed
        self._outlet = outlet
        self._has_lines = has_lines  # of files, to be counted

    @property
    def schema(self) -> spark.StructType:
        return spark.StructType([*self._decoder.schema, *self.baggage.fields])

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        chunk, lines = Chunk(), LineNumbers()
        for records in batches:
            if len(records):
                yield self.read(lines.numbered(records) if self._has_lines else records, chunk)
        self._outlet.tell(chunk)

    def read(self, records: pa.RecordBatch, chunk: Chunk) -> pa.RecordBatch:
        decoded = self._decoder.decode(records)
        verdict = judge(decoded, self._rules, malformed=self._malformed)
        topic = self.baggage.topic
        count(chunk.tally, slots(records, topic=topic), verdict)
        if topic is not None and (verdict.removed or self.baggage.is_whole):
            records = records.append_column("topic", pa.repeat(topic, len(records)))
        if verdict.removed:
            chunk.dead_letters += dead_letters(records, verdict)
        columns = [*decoded.rows.flatten(), *self.baggage.columns(records)]
        rows = pa.RecordBatch.from_arrays(columns, names=self.schema.names)
        return rows.filter(pa.array(verdict.passed)) if verdict.removed else rows


def read(
    stream: DataFrame, source: Source, pipeline: Pipeline, side: Side, *, name: str
) -> DataFrame:
    """The whole reading of one source. Its counts are told under `READ` and the name."""
    stage = f"{READ}{name}"
    topic = only_topic([source])
    if isinstance(source, Topic):
        records = _records(stream, has_topics=topic is None)
        decoding: Decoder = decoder(source.format, topic=source.name)
    else:
        records, decoding = _rows(stream), RowDecoder(_declared(stream, source))
    reading = ReadingStage(
        decoding,
        pipeline.contract,
        pipeline.malformed,
        side.outlet(stage),
        topic=topic,
        has_lines=CORRUPT in stream.columns,
    )
    frame = records.mapInArrow(reading, reading.schema)
    for rule in pipeline.contract:
        if rule.kind == contract.UNIQUE:
            unique = UniqueStage(rule, side.outlet(f"{stage}.{rule.name}"))
            frame = frame.repartition(F.col(rule.column)).mapInArrow(unique, frame.schema)
    return reading.baggage.unpacked(frame)


def _records(stream: DataFrame, *, has_topics: bool) -> DataFrame:
    """The connector's columns; headers are there only if it was told to read them."""
    columns = ["value", *CARRIED] + ["topic"] * has_topics
    has_headers = "headers" in stream.columns
    headers = packed(F.col("headers")) if has_headers else F.lit(None).cast("string")
    return stream.select(*columns, headers.alias("headers"), key_crc(F.col("key")).alias("key_crc"))


def _declared(stream: DataFrame, source: Source) -> spark.StructType:
    if isinstance(source, Folder):
        return source.schema
    return spark.StructType([field for field in stream.schema if field.name != ORIGIN])


def _rows(stream: DataFrame) -> DataFrame:
    """Rows of files and tables, as if each were a record: its value is its line, or its JSON."""
    names = [name for name in stream.columns if name not in (ORIGIN, CORRUPT)]
    row = F.struct(*[F.col(quoted_column(name)) for name in names])
    line = [F.col(CORRUPT)] if CORRUPT in stream.columns else []
    return stream.select(
        row.alias(ROW),
        *line,
        f"{ORIGIN}.*",
        F.coalesce(*line, F.to_json(row)).cast("binary").alias("value"),
        F.lit(None).cast("string").alias("headers"),
    )
