"""The query of Spark that a pipeline is while it runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ottla.pipelines.declaration import Pipeline, Topic
from ottla.pipelines.kafka import Place
from ottla.pipelines.running.positions import places_from_json
from ottla.pipelines.sinks.realtime import start_realtime

_REALTIME_EVERY = "10 seconds"


class SettingRefused(Exception):
    """It is none of a query; the message says what to do."""


def start_in_batches(
    pipeline: Pipeline,
    frame: DataFrame,
    on_batch: Callable[[DataFrame, int], None],
    *,
    checkpoint: str,
) -> StreamingQuery:
    writer = (
        frame.writeStream.queryName(pipeline.name)
        .outputMode(pipeline.output_mode)
        .option("checkpointLocation", checkpoint)
        .foreachBatch(on_batch)
    )
    every = pipeline.trigger.every or "0 seconds"
    once = pipeline.trigger.once
    writer = writer.trigger(availableNow=True) if once else writer.trigger(processingTime=every)
    with _settings(frame.sparkSession, pipeline.settings):
        return writer.start()


def start_in_real_time(
    pipeline: Pipeline, frame: DataFrame, *, bootstrap: str, checkpoint: str
) -> StreamingQuery:
    assert isinstance(pipeline.sink, Topic)
    with _settings(frame.sparkSession, pipeline.settings):
        return start_realtime(
            frame,
            pipeline.sink,
            bootstrap=bootstrap,
            checkpoint=checkpoint,
            name=pipeline.name,
            every=pipeline.trigger.every or _REALTIME_EVERY,
        )


@contextmanager
def _settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Of the session while a query starts, which takes a copy of it and keeps it. Several pipelines
    may share a session; one thread starts them all."""
    before: dict[str, str | None] = {}
    try:
        for name, value in settings.items():
            usual = spark.conf.get(name, None)
            _set(spark, name, value)
            before[name] = usual
        yield
    finally:
        for name, usual in before.items():
            if usual is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, usual)


def _set(spark: SparkSession, name: str, value: str) -> None:
    try:
        spark.conf.set(name, value)
    except PySparkException as cause:
        raise SettingRefused(
            f"{name}={value} cannot be set for one pipeline; give it to the whole session:"
            f" --conf {name}={value}"
        ) from cause


def ended_within(query: StreamingQuery, seconds: float) -> bool:
    """StreamingQueryException if it did not end well."""
    await_end: Any = query.awaitTermination  # its types know no fractions
    return bool(await_end(seconds))


def reached(query: StreamingQuery) -> dict[Place, int]:
    """How far it says that it has read; nothing before its first word."""
    # Any: Spark's words of its progress are JSON.
    progress: Any = query.lastProgress
    found: dict[Place, int] = {}
    for source in progress["sources"] if progress else ():
        # A text while it runs, of what is a value once a batch has ended.
        if end := source["endOffset"]:
            text = end if isinstance(end, str) else json.dumps(end)
            found |= places_from_json(text.encode())
    return found
