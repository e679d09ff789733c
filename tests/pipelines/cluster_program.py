"""Run as a program: a session whose executors are processes of their own, one of which is killed
while it works on a batch, and at last the driver's Java. Prints what the executors saw, what came
of the batch, and what a user is told.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import ottla.pipelines.declaration
from ottla.pipelines import declare
from ottla.pipelines.jars import CONNECTOR, have
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.running.run import RunFailed
from ottla.pipelines.session import session
from ottla.testing.broker import Broker
from ottla.testing.spark import SHORT_LIVED
from tests.pipelines.lab import Lab

RECORDS = 2_000
EVERY_POISONED = 500
LONGEST_S = 60
SETTINGS = {
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.executor.memory": "512m",
}


def look_around(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pickled by its name: the executor finds the package that came with the session."""
    for batch in batches:
        places = [ottla.pipelines.declaration.__file__] * len(batch)
        yield pa.record_batch({"package": places, "executor": [_executor()] * len(batch)})


class DiesOnce:
    """The first task that gets here kills the executor that it runs in, as kill -9 does."""

    def __init__(self, folder: Path) -> None:
        self._flag = folder / "killed"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            try:
                self._flag.touch(exist_ok=False)
            except FileExistsError:
                yield batch
            else:
                os.kill(_executor(), signal.SIGKILL)


def _executor() -> int:
    """A worker's parent is Python's daemon, and its parent the executor."""
    status = Path(f"/proc/{os.getppid()}/status").read_text(encoding="utf-8")
    return int(status.partition("PPid:")[2].split()[0])


def survive(spark: SparkSession, bootstrap: str, folder: Path) -> dict[str, object]:
    lab = Lab(spark, Cluster(bootstrap), folder / "state", "killed")

    @declare.pipeline(
        source=declare.topic(lab.topic("in"), format=declare.json({"id": "long"})),
        sink=declare.topic(lab.topic("out"), format=declare.json()),
        dead_letters=declare.topic(lab.topic("dlq")),
    )
    def killed(events: DataFrame) -> DataFrame:
        # The shuffle's files die with the executor, so that the reading is done again, too.
        spread = events.repartition(4, "id")
        return spread.mapInArrow(DiesOnce(folder), spread.schema)

    values = [b"poison" if n % EVERY_POISONED == 0 else {"id": n} for n in range(RECORDS)]
    lab.produce("killed-in", values)
    status = lab.run(killed)
    return {
        "died": (folder / "killed").exists(),
        "ids": sorted(row["id"] for row in lab.rows("killed-out")),
        "dead_letters": len(lab.records("killed-dlq")),
        "counted": [status.rows_in, status.rows_out, status.dead_letters],
    }


def lose_java(spark: SparkSession, bootstrap: str, folder: Path) -> dict[str, object]:
    """As the kernel kills it for want of memory."""
    lab = Lab(spark, Cluster(bootstrap), folder / "state", "lost")
    source = declare.topic(lab.topic("in"), format=declare.raw())
    lost = declare.pipeline(name="lost", source=source, sink=declare.noop())(lambda rows: rows)
    run = lab.start(lost)
    context: Any = spark.sparkContext
    os.kill(context._gateway.proc.pid, signal.SIGKILL)
    try:
        run.wait(LONGEST_S)
    except RunFailed as failure:
        return {"told": str(failure), "state": run.status.state}
    return {"told": "nothing", "state": run.status.state}


def main() -> None:
    folder = Path.cwd()
    settings = {**SETTINGS, "spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}
    master = "local-cluster[2,1,1024]"
    with Broker() as broker:
        spark = session("cluster", master=master, jars=have(CONNECTOR), settings=settings)
        rows = spark.range(0, 4, 1, 4).mapInArrow(look_around, "package string, executor long")
        found: dict[str, object] = {"seen": [row.asDict() for row in rows.collect()]}
        found |= survive(spark, broker.bootstrap, folder)
        found |= lose_java(spark, broker.bootstrap, folder)
        json.dump(found, sys.stdout)
