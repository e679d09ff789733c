"""What is measured of pipelines: what exactly once costs, and what contract and audit cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from statistics import median
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.beside.bench import Bench
from benchmarks.beside.rows import Row, above
from benchmarks.beside.scenarios import KIB, Scenario
from benchmarks.beside.spark_scenarios import CONNECTOR, COUNTS, NAMES, TURNS, write
from benchmarks.beside.spark_session import TASKS, measured, records, spark
from benchmarks.drivers.driver import Outcome
from ottla.pipelines.declaration import Json, Noop, Pipeline, Topic
from ottla.pipelines.declare import between, matches, not_null, one_of
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.reading.decoded import Decoder
from ottla.pipelines.reading.formats import decoder
from ottla.pipelines.reading.side import Side
from ottla.pipelines.reading.stage import count_out, read
from ottla.pipelines.schema import structure
from ottla.pipelines.sinks.making import make_sink
from ottla.pipelines.sinks.port import Batch

PARTITIONS = 4
VIEWS, VIEW_BYTES = 300_000, 120
SHAPE = {
    "event": "string",
    "user": "string or null",
    "page": "string",
    "ms": "int",
    "ratio": "double",
}
RULES = (
    not_null("user"), between("ms", 0, 1_000_000), one_of("page", "/a", "/b", "/c"),
    matches("event", "e-[0-9]+"),
)  # fmt: skip
VIEW = """to_json(struct(
    concat('e-', id) as event, concat('user-', id % 97) as user,
    element_at(array('/a', '/b', '/c'), cast(id % 3 as int) + 1) as page,
    cast(id % 1000 as int) as ms, id / 7 as ratio))"""


def write_exactly_once(bench: Bench, topic: str, size: int) -> Outcome:
    count = bench.amount(COUNTS[size])
    frame = records(count, size)
    name = bench.admin.fresh_name("pipeline")
    pipeline = Pipeline(name, lambda rows: rows, (Topic((topic,)),), Topic((topic,)))
    cluster = Cluster(bench.running.bootstrap)
    with closing(make_sink(pipeline, app=f"{name}.0", spark=spark(), cluster=cluster)) as sink:
        sink.open()
        batch = Batch(0, {(topic, 0): count}, lambda: ())
        return measured(bench, lambda: sink.write(frame, batch), count=count, size=size)


def delivering(size: int, *, least: float) -> Scenario:
    """The same rows by the connector, at least once, and by our sink, exactly once, in turns."""

    def run(bench: Bench) -> tuple[float, ...]:
        turns = []
        for _ in range(bench.amount(TURNS)):
            with bench.fresh_topic(PARTITIONS) as topic:
                plain = write(bench, topic, CONNECTOR, size)
            with bench.fresh_topic(PARTITIONS) as topic:
                turns.append((plain, write_exactly_once(bench, topic, size)))
        return _ours_over_theirs(turns)

    label = f"exactly once, writes {NAMES[size]}"
    return Scenario((Row(label, "MB/s"), Row(f"{label}, over plain", "", above(least))), run)


class Decoding:
    """Nothing but the decoder, as somebody would write it who keeps no accounts."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            # Any: Arrow has no types.
            rows: Any = self._decoder.decode(batch).rows
            yield pa.RecordBatch.from_arrays(rows.flatten(), names=self._decoder.schema.names)


def plain(stream: DataFrame) -> DataFrame:
    decoding = decoder(Json(structure(SHAPE)))
    return stream.select("key", "value", "headers").mapInArrow(Decoding(decoding), decoding.schema)


def accounted(stream: DataFrame) -> DataFrame:
    source, side = Topic(("views",), Json(structure(SHAPE))), Side(spark())
    pipeline = Pipeline("views", lambda rows: rows, (source,), Noop(), contract=RULES)
    return count_out(read(stream, source, pipeline, side, name="0"), side)


def reading_json(bench: Bench) -> tuple[float, ...]:
    count = bench.amount(VIEWS)
    with bench.fresh_topic(PARTITIONS) as topic:
        address = {"kafka.bootstrap.servers": bench.running.bootstrap}
        views = spark().range(count, numPartitions=TASKS)
        views = views.select(F.expr("cast(id as string) as key"), F.expr(f"{VIEW} as value"))
        views.write.format(CONNECTOR).options(**address, topic=topic).mode("append").save()
        source = spark().read.format(CONNECTOR).options(**address, includeHeaders="true")
        turns = [
            (_read(bench, source.option("subscribe", topic).load(), plain, count),
             _read(bench, source.option("subscribe", topic).load(), accounted, count))
            for _ in range(bench.amount(TURNS))
        ]  # fmt: skip
    return _ours_over_theirs(turns)


def _read(
    bench: Bench, stream: DataFrame, reading: Callable[[DataFrame], DataFrame], count: int
) -> Outcome:
    writer = reading(stream).write.format("noop").mode("overwrite")
    return measured(bench, writer.save, count=count, size=VIEW_BYTES)


def _ours_over_theirs(turns: Sequence[tuple[Outcome, Outcome]]) -> tuple[float, float]:
    rates = [[each["mb_per_second"] for each in turn] for turn in turns]
    theirs, ours = (median(each) for each in zip(*rates, strict=True))
    return ours, ours / theirs


PIPELINE_SCENARIOS = (
    delivering(KIB, least=0.5),
    delivering(100, least=0.3),
    Scenario(
        (
            Row("JSON with contract and audit", "MB/s"),
            Row("JSON with contract and audit, over plain", "", above(1 / 1.15)),
        ),
        reading_json,
    ),
)
