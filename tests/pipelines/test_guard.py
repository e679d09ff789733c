"""An accepted loss on Spark: the query goes on behind it, with its state and its batch numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.folder import LocalFolder
from ottla.pipelines.repair.checkpoint import Checkpoint
from ottla.pipelines.repair.guard import Guard
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.losses import Cause, DataLoss
from ottla.testing.broker import Broker
from tests.integration.repair_stories import Stage


class Counting:
    """How often each value came, counted by Spark's own state, batch by batch."""

    def __init__(self, spark: SparkSession, stage: Stage) -> None:
        self._spark = spark
        self._stage = stage
        self.folder = LocalFolder(f"{stage.folder.path}/checkpoint")
        self.checkpoint = Checkpoint(self.folder)
        self.seen: list[tuple[int, dict[str, int]]] = []

    def run(self) -> None:
        """To the end of what there is."""
        options = {
            "kafka.bootstrap.servers": self._stage.cluster.bootstrap,
            "subscribe": self._stage.source,
            "startingOffsets": "earliest",
        }
        stream = self._spark.readStream.format("kafka").options(**options).load()
        counted = stream.groupBy(F.col("value").cast("string").alias("value")).count()
        query = (
            counted.writeStream.outputMode("complete")
            .foreachBatch(self._note)
            .option("checkpointLocation", self.folder.path)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def _note(self, frame: DataFrame, batch: int) -> None:
        rows: list[Any] = frame.collect()
        self.seen.append((batch, {row["value"]: row["count"] for row in rows}))


@pytest.fixture
def stage(broker: Broker, tmp_path: Path, request: pytest.FixtureRequest) -> Stage:
    return Stage(broker.bootstrap, request.node.name, tmp_path)


def _lost(guard: Guard, checkpoint: Checkpoint) -> DataLoss:
    committed = checkpoint.last_committed()
    assert committed is not None
    with pytest.raises(DataLoss) as caught:
        guard.check(checkpoint.offsets(committed))
    return caught.value


def test_a_query_goes_on_behind_deleted_records(spark: SparkSession, stage: Stage) -> None:
    place = (stage.create(stage.source, 1), 0)
    stage.produce(stage.source, [{"value": b"a"}] * 4)
    query = Counting(spark, stage)
    guard = Guard(stage.folder, stage.cluster, Ledger(stage.folder))
    query.run()
    guard.check(query.checkpoint.offsets(0))
    stage.produce(stage.source, [{"value": b"lost"}] * 3 + [{"value": b"a"}] * 2)
    stage.delete_records(place, 7)
    [loss] = _lost(guard, query.checkpoint).losses
    assert (loss.start, loss.end, loss.cause) == (4, 7, Cause.DELETED)
    with pytest.raises(StreamingQueryException):
        query.run()
    # Spark has planned the batch that it could not read; it must be read from what is left.
    assert (query.checkpoint.last_planned(), query.checkpoint.last_committed()) == (1, 0)
    guard.accept(query.checkpoint, Ledger(stage.folder), now_ms=1)
    guard.check(query.checkpoint.offsets(0))
    query.run()
    assert query.seen == [(0, {"a": 4}), (1, {"a": 6})]


def test_a_query_goes_on_in_a_topic_made_anew(spark: SparkSession, stage: Stage) -> None:
    stage.create(stage.source, 2)
    stage.produce(stage.source, [{"value": b"a", "partition": 1}] * 3)
    query = Counting(spark, stage)
    guard = Guard(stage.folder, stage.cluster, Ledger(stage.folder))
    query.run()
    guard.check(query.checkpoint.offsets(0))
    stage.delete(stage.source)
    stage.create(stage.source, 1)
    stage.produce(stage.source, [{"value": b"a"}] * 5)
    causes = [loss.cause for loss in _lost(guard, query.checkpoint).losses]
    assert causes == [Cause.RECREATED, Cause.NO_PARTITION]
    guard.accept(query.checkpoint, Ledger(stage.folder), now_ms=1)
    query.run()
    assert query.seen == [(0, {"a": 3}), (1, {"a": 8})]
