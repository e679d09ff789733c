"""A pipeline in a test: on given rows without a broker, or end to end on one.

def test_a_view_without_a_user_is_a_dead_letter(ottla_spark):
    outcome = run_on_rows(page_views, ottla_spark, [{"id": "1", "user_id": None}])
    assert outcome.rows == []
    assert [letter.rule for letter in outcome.dead_letters] == ["not_null(user_id)"]
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from ottla.pipelines.declaration import (
    ORIGIN,
    Avro,
    Folder,
    Format,
    Json,
    Pipeline,
    Protobuf,
    Source,
    Table,
    Topic,
    Trigger,
)
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.reading.formats import encoder, schema_of
from ottla.pipelines.reading.headers import HEADERS
from ottla.pipelines.reading.origin import ORIGIN_SCHEMA, RAW_SCHEMA
from ottla.pipelines.reading.rows import arrow_type
from ottla.pipelines.reading.side import READ, Side
from ottla.pipelines.reading.stage import read
from ottla.pipelines.reading.tally import Counts
from ottla.pipelines.reading.whole import CORRUPT
from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.running.run import Run
from ottla.pipelines.running.state import StateFolder
from ottla.pipelines.running.status import Status
from ottla.testing.broker import Broker
from ottla.timing.clock import SystemClock

# Fields by name; or what is no row: bytes, a line of text, the tombstone of a topic.
Given = Mapping[str, Any] | bytes | str | None
FIRST_RECORD = datetime(2026, 1, 1, tzinfo=UTC)  # each is a second younger than the one before
_POLL_S = 0.2


class Outcome(NamedTuple):
    rows: list[dict[str, Any]]  # what the function made, for the sink
    dead_letters: list[DeadLetter]
    counts: Counts  # of the reading: records in, passed, dead, dropped and warned of by rule


def run_on_rows(
    pipeline: Pipeline, spark: SparkSession, *sources: Sequence[Given], contract: bool = True
) -> Outcome:
    """As one batch; one list for each source. Without the contract: the function alone."""
    side = Side(spark)
    frames = []
    for number, (source, given) in enumerate(zip(pipeline.sources, sources, strict=True)):
        if contract:
            stream = _stream(spark, source, given)
            frames.append(read(stream, source, pipeline, side, name=str(number)))
        else:
            frames.append(_frame(spark, _rows_only(given), _schema(spark, source, given)))
    made = pipeline.function(*frames).drop(ORIGIN).collect()
    rows = [row.asDict(recursive=True) for row in made]
    letters = [DeadLetter._make(each) for each in side.dead_letters()]
    return Outcome(rows, letters, side.tally(READ).total())


def run_on_broker(
    pipeline: Pipeline,
    spark: SparkSession,
    broker: Broker,
    *topics: Sequence[Given],
    folder: Path,
) -> Status:
    """Makes its topics, fills those it reads, and runs it to their end; state is in the folder."""
    cluster = Cluster(broker.bootstrap)
    places = [*pipeline.sources, pipeline.sink, pipeline.dead_letters]
    known = [name for place in places if isinstance(place, Topic) for name in place.names]
    cluster.create_topics(dict.fromkeys(known, 1))
    read_from = [source for source in pipeline.sources if isinstance(source, Topic)]
    for source, given in zip(read_from, topics, strict=True):
        _produce(cluster, source, given)
    run = Run(
        replace(pipeline, trigger=Trigger(once=True)),
        spark=spark,
        cluster=cluster,
        state=StateFolder(str(folder), pipeline.name, spark),
        clock=SystemClock(),
        connector="spark-sql-kafka" in str(spark.conf.get("spark.jars", "")),
    )
    run.start()
    while not run.wait(_POLL_S):
        pass
    return run.status


def _produce(cluster: Cluster, source: Topic, given: Sequence[Given]) -> None:
    producer = cluster.producer({})
    for value in _values(source, given):
        producer.produce(source.name, value)
    producer.flush()


def _stream(spark: SparkSession, source: Source, given: Sequence[Given]) -> DataFrame:
    """What Spark's source would give."""
    if isinstance(source, Topic):
        schema = StructType([*ORIGIN_SCHEMA, RAW_SCHEMA["value"], StructField("headers", HEADERS)])
        origins = _origins(source.name, len(given))
        records = [
            {**origin, "value": value, "headers": None}
            for origin, value in zip(origins, _values(source, given), strict=True)
        ]
        return spark.createDataFrame(records, schema)
    fields = [*_schema(spark, source, given), StructField(ORIGIN, ORIGIN_SCHEMA)]
    if isinstance(source, Folder):
        fields.append(StructField(CORRUPT, StringType()))
    topic = source.path if isinstance(source, Folder) else source.table
    rows = [
        {**_row_or_line(each), ORIGIN: origin}
        for each, origin in zip(given, _origins(topic, len(given)), strict=True)
    ]
    return _frame(spark, rows, StructType(fields))


def _origins(topic: str, count: int) -> list[dict[str, Any]]:
    # Each line of a file is a block of its own, so that it keeps the number it has here.
    return [
        {
            "topic": topic,
            "partition": 0,
            "offset": number,
            "timestamp": FIRST_RECORD + timedelta(seconds=number),
            "key": None,
            "key_crc": 0,
        }
        for number in range(count)
    ]


def _row_or_line(given: Given) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    return {CORRUPT: given.decode(errors="replace") if isinstance(given, bytes) else given}


def _schema(spark: SparkSession, source: Source, given: Sequence[Given]) -> StructType:
    match source:
        case Topic():
            return schema_of(source.format, topic=source.name)
        case Folder():
            return source.schema
        case Table():  # only the database knows its own
            return spark.createDataFrame(_rows_only(given)).schema


def _rows_only(given: Iterable[Given]) -> list[dict[str, Any]]:
    return [dict(each) for each in given if isinstance(each, Mapping)]


def _frame(spark: SparkSession, rows: list[dict[str, Any]], schema: StructType) -> DataFrame:
    """All may be null: whether it should, the contract says."""
    nullable = [StructField(field.name, field.dataType) for field in schema]
    return spark.createDataFrame(rows, StructType(nullable))


def _values(source: Topic, given: Sequence[Given]) -> list[bytes | None]:
    return [_value(source.format, each, topic=source.name) for each in given]


def _value(format: Format, given: Given, *, topic: str) -> bytes | None:
    if isinstance(given, str):
        return given.encode()
    if given is None or isinstance(given, bytes):
        return given
    if isinstance(format, Json):
        return json.dumps(dict(given), default=_text).encode()
    if isinstance(format, Avro | Protobuf) and format.registry is None:
        row = pa.array([dict(given)], arrow_type(schema_of(format)))
        encoded: bytes = encoder(format, topic=topic).encode(row)[0].as_py()
        return encoded
    raise TypeError(f"{given!r}: a record of {format} must be given as bytes or text")


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
