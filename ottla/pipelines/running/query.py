"""The query of Spark that a pipeline is while it runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from ottla.pipelines.declaration import Pipeline, Topic
from ottla.pipelines.kafka import Place
from ottla.pipelines.running.positions import places_from_json
from ottla.pipelines.sinks.realtime import start_realtime

_REALTIME_EVERY = "10 seconds"


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
    if pipeline.trigger.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=pipeline.trigger.every or "0 seconds").start()


def start_in_real_time(
    pipeline: Pipeline, frame: DataFrame, *, bootstrap: str, checkpoint: str
) -> StreamingQuery:
    assert isinstance(pipeline.sink, Topic)
    return start_realtime(
        frame,
        pipeline.sink,
        bootstrap=bootstrap,
        checkpoint=checkpoint,
        name=pipeline.name,
        every=pipeline.trigger.every or _REALTIME_EVERY,
    )


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
