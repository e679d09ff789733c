"""A pipeline as a plan of Spark: its sources read, its function called, nothing started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.declaration import Folder, Pipeline, Source, Table, Topic, place_name
from ottla.pipelines.kafka import Place
from ottla.pipelines.reading.side import Side
from ottla.pipelines.reading.stage import read
from ottla.pipelines.running.shape import Shape, nodes_above_reading, shape_of, stateful
from ottla.pipelines.sinks.realtime import native_rows
from ottla.pipelines.sources import files, postgres, topic


@dataclass(frozen=True, slots=True)
class Plan:
    pipeline: Pipeline  # as it runs
    frame: DataFrame  # what the function made
    shape: Shape
    stateful: tuple[str, ...]
    schemas: dict[str, object]  # of what was read from each source, as Spark's JSON


def planned(
    pipeline: Pipeline,
    spark: SparkSession,
    side: Side,
    *,
    bootstrap: str,
    connector: bool,
    start: Mapping[Place, int],
    ends: Mapping[Place, int] | None = None,
) -> Plan:
    """`ends`: nothing is read from there on."""
    frames: list[DataFrame] = []
    schemas: dict[str, object] = {}
    for index, source in enumerate(pipeline.sources):
        stream = _stream(
            spark,
            source,
            bootstrap=bootstrap,
            connector=connector,
            start=start,
            in_batches=not pipeline.is_realtime,
        )
        if ends is not None:
            stream = stream.where(_before(ends))
        frame = _read(stream, source, pipeline, side, name=str(index))
        frames.append(frame)
        schemas[place_name(source)] = frame.schema.jsonValue()
    made = pipeline.function(*frames)
    nodes = nodes_above_reading(made)
    return Plan(pipeline, made, shape_of(nodes), tuple(stateful(nodes)), schemas)


def _read(
    stream: DataFrame, source: Source, pipeline: Pipeline, side: Side, *, name: str
) -> DataFrame:
    if pipeline.is_realtime and isinstance(source, Topic):
        return native_rows(stream, source.format, malformed=pipeline.malformed)
    return read(stream, source, pipeline, side, name=name)


def _stream(
    spark: SparkSession,
    source: Source,
    *,
    bootstrap: str,
    connector: bool,
    start: Mapping[Place, int],
    in_batches: bool,
) -> DataFrame:
    match source:
        case Topic():
            own = {place: offset for place, offset in start.items() if place[0] in source.names}
            return topic.stream(
                spark,
                source,
                bootstrap=bootstrap,
                connector=connector,
                start=own,
                in_batches=in_batches,
            )
        case Folder():
            return files.stream(spark, source)
        case Table():
            return postgres.stream(spark, source)


def _before(ends: Mapping[Place, int]) -> Column:
    conditions = [
        (F.col("topic") == name) & (F.col("partition") == partition) & (F.col("offset") < end)
        for (name, partition), end in ends.items()
    ]
    return reduce(or_, conditions, F.lit(False))
