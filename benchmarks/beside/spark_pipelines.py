"""What is measured of whole pipelines: what contract and audit cost, and what wrong input costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.beside.bench import Bench
from benchmarks.beside.rows import Row, above, below
from benchmarks.beside.scenarios import Scenario
from benchmarks.beside.spark_delivering import PARTITIONS
from benchmarks.beside.spark_scenarios import CONNECTOR, TURNS
from benchmarks.beside.spark_session import (
    TASKS,
    forget_records,
    measured,
    ours_over_theirs,
    spark,
)
from benchmarks.drivers.driver import Outcome
from ottla.pipelines.declaration import Json, Otherwise, Pipeline, Topic, Trigger
from ottla.pipelines.declare import between, matches, not_null, one_of
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.reading.decoded import Decoder
from ottla.pipelines.reading.formats import decoder
from ottla.pipelines.running.query import start_in_batches
from ottla.pipelines.running.run import Run
from ottla.pipelines.running.state import StateFolder
from ottla.pipelines.schema import structure
from ottla.pipelines.sinks.making import make_sink
from ottla.pipelines.sinks.port import Batch, Sink
from ottla.pipelines.sources.batch_size import sized
from ottla.pipelines.sources.topic import first_positions, stream
from ottla.timing.clock import SystemClock

VIEWS, VIEW_BYTES = 300_000, 120
CHECKED = 900_000  # so many that starting, which takes half a second, does not hide the rest
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

# Good, truncated, and against a rule.
VIEWS_ARE = (
    VIEW,
    f"substring({VIEW}, 1, 60)",
    VIEW.replace("'/a'", "'x'").replace("'/b'", "'y'").replace("'/c'", "'z'"),
)
_LONGEST_S = 600


class Decoding:
    """Nothing but the decoder, as somebody would write it who keeps no accounts."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            # Any: Arrow has no types.
            rows: Any = self._decoder.decode(batch).rows
            yield pa.RecordBatch.from_arrays(rows.flatten(), names=self._decoder.schema.names)


@contextmanager
def plain(bench: Bench, topic: str, out: str) -> Iterator[Callable[[], object]]:
    """Topic to topic, exactly once, as somebody would write it who checks and counts nothing."""
    cluster, decoding = Cluster(bench.running.bootstrap), decoder(Json(structure(SHAPE)))
    pipeline = sized(_pipeline(bench, topic, out), cluster)
    (source,) = pipeline.sources
    assert isinstance(source, Topic)
    start = first_positions(cluster, source)
    read = stream(spark(), source, bootstrap=cluster.bootstrap, connector=True, start=start)
    rows = read.select("value").mapInArrow(Decoding(decoding), decoding.schema)
    sink = make_sink(pipeline, app=f"{pipeline.name}.0", spark=spark(), cluster=cluster)
    with TemporaryDirectory() as checkpoint, closing(sink):
        sink.open()
        query = start_in_batches(
            pipeline,
            rows,
            lambda frame, number: _write(sink, frame, Batch(number, {(topic, 0): number}, list)),
            checkpoint=checkpoint,
        )
        yield lambda: query.awaitTermination(_LONGEST_S)


def _write(sink: Sink, frame: DataFrame, batch: Batch) -> None:
    sink.write(frame, batch)


@contextmanager
def accounted(bench: Bench, topic: str, out: str, letters: str) -> Iterator[Callable[[], object]]:
    pipeline = replace(
        _pipeline(bench, topic, out),
        contract=RULES,
        malformed=Otherwise.DEAD_LETTER,
        dead_letters=Topic((letters,)),
    )
    with TemporaryDirectory() as state:
        run = Run(
            pipeline,
            spark=spark(),
            cluster=Cluster(bench.running.bootstrap),
            state=StateFolder(state, pipeline.name),
            clock=SystemClock(),
        )
        run.start()
        yield lambda: run.wait(_LONGEST_S)


def _pipeline(bench: Bench, topic: str, out: str) -> Pipeline:
    return Pipeline(
        bench.admin.fresh_name("views"),
        lambda rows: rows,
        (Topic((topic,), Json(structure(SHAPE))),),
        Topic((out,), Json()),
        trigger=Trigger(once=True),
    )


def checking_and_counting(bench: Bench) -> tuple[float, ...]:
    forget_records()
    count = bench.amount(CHECKED)
    with bench.fresh_topic(PARTITIONS) as topic:
        _fill(bench, topic, VIEW, count)
        turns = [
            (_plain(bench, topic, count), _accounted(bench, topic, count))
            for _ in range(bench.amount(TURNS))
        ]
    return ours_over_theirs(turns)


def _plain(bench: Bench, topic: str, count: int) -> Outcome:
    with bench.fresh_topic(PARTITIONS) as out, plain(bench, topic, out) as work:
        return measured(bench, lambda: _ended(work), count=count, size=VIEW_BYTES)


def _accounted(bench: Bench, topic: str, count: int) -> Outcome:
    with (
        bench.fresh_topic(PARTITIONS) as out,
        bench.fresh_topic(PARTITIONS) as letters,
        accounted(bench, topic, out, letters) as work,
    ):
        return measured(bench, lambda: _ended(work), count=count, size=VIEW_BYTES)


def _ended(work: Callable[[], object]) -> None:
    if not work():
        raise TimeoutError(f"a pipeline did not end within {_LONGEST_S} s")


def reading_wrong_input(bench: Bench) -> tuple[float, ...]:
    """Whole pipelines, from topic to topic: all good, all truncated, all against a rule."""
    count = bench.amount(VIEWS)
    with ExitStack() as stack:
        topics = {view: stack.enter_context(bench.fresh_topic(PARTITIONS)) for view in VIEWS_ARE}
        for view, topic in topics.items():
            _fill(bench, topic, view, count)
        good, truncated, wrong = (
            _accounted(bench, topic, count)["seconds"] for topic in topics.values()
        )
    return count * VIEW_BYTES / good / 1e6, truncated / good, wrong / good


def _fill(bench: Bench, topic: str, view: str, count: int) -> None:
    address = {"kafka.bootstrap.servers": bench.running.bootstrap, "topic": topic}
    views = spark().range(count, numPartitions=TASKS)
    views = views.select(F.expr("cast(id as string) as key"), F.expr(f"{view} as value"))
    views.write.format(CONNECTOR).options(**address).mode("append").save()


PIPELINE_SCENARIOS = (
    Scenario(
        (
            Row("JSON pipeline, contract and audit", "MB/s"),
            Row("JSON pipeline, contract and audit, over plain", "", above(round(1 / 1.15, 2))),
        ),
        checking_and_counting,
    ),
    Scenario(
        (
            Row("JSON pipeline, all good", "MB/s"),
            Row("JSON pipeline, all truncated, time over good", "", below(2)),
            Row("JSON pipeline, all break a rule, time over good", "", below(2)),
        ),
        reading_wrong_input,
    ),
)
