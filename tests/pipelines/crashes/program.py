"""A process that runs a pipeline into every sink at once, to be killed by the test.

python -m tests.pipelines.crashes.program '{"bootstrap": …}'; a line for every batch that is done.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.declaration import Json, Pipeline, Topic, Trigger
from ottla.pipelines.jars import CONNECTOR, DELTA, have
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.running.run import Run
from ottla.pipelines.running.state import StateFolder
from ottla.pipelines.running.status import Status
from ottla.pipelines.schema import structure
from ottla.pipelines.session import session
from ottla.timing.clock import SystemClock
from tests.pipelines.crashes.sinks import Kept, kept

_POLL_S = 0.5
SHORT_LIVED = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@dataclass(frozen=True)
class World:
    bootstrap: str
    folder: str
    source: str
    out: str  # the topic that the topic's pipeline writes
    postgres: str
    names: list[str]
    at_once: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    def kept(self, name: str, spark: SparkSession) -> Kept:
        return kept(
            name,
            Path(self.folder),
            spark=spark,
            cluster=Cluster(self.bootstrap),
            topic=self.out,
            postgres=self.postgres,
        )


def same(events: DataFrame) -> DataFrame:
    return events


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def started(world: World, name: str, spark: SparkSession) -> Run:
    source = Topic((world.source,), Json(structure({"id": "long"})), at_once=world.at_once)
    pipeline = Pipeline(
        f"{world.source}-{name}",
        same,
        (source,),
        world.kept(name, spark).place,
        trigger=Trigger(once=True),
    )

    def told(_: Status) -> None:
        say(f"batch {name}")

    run = Run(
        pipeline,
        spark=spark,
        cluster=Cluster(world.bootstrap),
        state=StateFolder(f"{world.folder}/state", pipeline.name, spark),
        clock=SystemClock(),
        on_batch=told,
    )
    run.start()
    return run


def run_all(world: World, spark: SparkSession) -> None:
    """To the end of what there is to read."""
    runs = [started(world, name, spark) for name in world.names]
    for run in runs:
        while not run.wait(_POLL_S):
            pass


def main(world: World) -> None:
    jars = have((*CONNECTOR, *DELTA))
    run_all(
        world,
        session("crashes", master="local[2]", jars=jars, settings=SHORT_LIVED, delta=True),
    )


if __name__ == "__main__":
    main(World(**json.loads(sys.argv[1])))
