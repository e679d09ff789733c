"""What is measured of delivery: exactly once beside at least once."""

from __future__ import annotations

from contextlib import closing

from benchmarks.beside.bench import Bench
from benchmarks.beside.rows import Row, above
from benchmarks.beside.scenarios import KIB, Scenario
from benchmarks.beside.spark_scenarios import CONNECTOR, COUNTS, NAMES, TURNS
from benchmarks.beside.spark_session import (
    batches_of_records,
    forget_records,
    measured,
    ours_over_theirs,
    spark,
)
from benchmarks.drivers.driver import Outcome
from ottla.pipelines.declaration import Pipeline, Topic
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.sinks.making import make_sink
from ottla.pipelines.sinks.port import Batch

PARTITIONS = 4


def write_at_least_once(bench: Bench, topic: str, size: int) -> Outcome:
    count = bench.amount(COUNTS[size])
    frames = batches_of_records(count, size)
    address = {"kafka.bootstrap.servers": bench.running.bootstrap, "topic": topic}

    def write() -> None:
        for frame in frames:
            frame.write.format(CONNECTOR).options(**address).mode("append").save()

    return measured(bench, write, count=count, size=size)


def write_exactly_once(bench: Bench, topic: str, size: int) -> Outcome:
    count = bench.amount(COUNTS[size])
    frames = batches_of_records(count, size)
    name = bench.admin.fresh_name("pipeline")
    pipeline = Pipeline(name, lambda rows: rows, (Topic((topic,)),), Topic((topic,)))
    cluster = Cluster(bench.running.bootstrap)
    with closing(make_sink(pipeline, app=f"{name}.0", spark=spark(), cluster=cluster)) as sink:
        sink.open()

        def write() -> None:
            for number, frame in enumerate(frames):
                sink.write(frame, Batch(number, {(topic, 0): number}, lambda: ()))

        return measured(bench, write, count=count, size=size)


def delivering(size: int, *, least: float) -> Scenario:
    """The same batches by the connector, at least once, and by our sink, exactly once, in turns."""

    def run(bench: Bench) -> tuple[float, ...]:
        forget_records()
        turns = []
        for _ in range(bench.amount(TURNS)):
            with bench.fresh_topic(PARTITIONS) as topic:
                plain = write_at_least_once(bench, topic, size)
            with bench.fresh_topic(PARTITIONS) as topic:
                turns.append((plain, write_exactly_once(bench, topic, size)))
        return ours_over_theirs(turns)

    label = f"exactly once, writes {NAMES[size]}"
    return Scenario((Row(label, "MB/s"), Row(f"{label}, over plain", "", above(least))), run)


DELIVERY_SCENARIOS = (delivering(KIB, least=0.5), delivering(100, least=0.3))
