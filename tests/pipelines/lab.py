"""A place to run pipelines in: a test's own topics, records, runs to the end, what came out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ottla.pipelines.declaration import Pipeline, Trigger
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.running.run import Run
from ottla.pipelines.running.state import StateFolder
from ottla.pipelines.running.status import Status
from ottla.pipelines.topic_records import Record, read_records
from ottla.timing.clock import SystemClock

_LONGEST_S = 120


@dataclass
class Lab:
    spark: SparkSession
    cluster: Cluster
    root: Path
    name: str  # begins the names of its topics, which all tests share a broker for
    connector: bool = True
    elsewhere: str = ""  # where states are kept, if not here
    batches: list[Status] = field(default_factory=list)

    def topic(self, name: str, *, partitions: int = 2) -> str:
        whole = f"{self.name}-{name}"
        self.cluster.create_topics({whole: partitions})
        return whole

    def delete_topic(self, name: str) -> None:
        """It is gone when this returns."""
        self.cluster.delete_topic(name)
        while self.cluster.topics([name]):
            pass

    def produce(self, topic: str, values: Sequence[object], *, partition: int = -1) -> None:
        """Bytes as they are, all else as JSON; its number is the key."""
        producer = self.cluster.producer({})
        for number, value in enumerate(values):
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            producer.produce(topic, value=data, key=b"%d" % number, partition=partition)
        producer.flush()

    def produce_at(self, topic: str, values: Sequence[object], times_ms: Sequence[int]) -> None:
        producer = self.cluster.producer({})
        for value, time_ms in zip(values, times_ms, strict=True):
            producer.produce(topic, value=json.dumps(value).encode(), timestamp=time_ms)
        producer.flush()

    def state(self, pipeline: Pipeline) -> StateFolder:
        return StateFolder(self.elsewhere or str(self.root), pipeline.name, self.spark)

    def start(
        self,
        pipeline: Pipeline,
        *,
        ends: Mapping[Place, int] | None = None,
        on_batch: Callable[[Status], None] | None = None,
        **accepting: bool,
    ) -> Run:
        run = Run(
            pipeline,
            spark=self.spark,
            cluster=self.cluster,
            state=self.state(pipeline),
            clock=SystemClock(),
            connector=self.connector,
            ends=ends,
            on_batch=on_batch or self.batches.append,
        )
        run.start(**accepting)
        return run

    def run(self, pipeline: Pipeline, **settings: Any) -> Status:
        """To the end of what there is now."""
        run = self.start(replace(pipeline, trigger=Trigger(once=True)), **settings)
        assert run.wait(_LONGEST_S), f"{pipeline.name} did not end"
        return run.status

    def records(self, topic: str) -> list[Record]:
        """All that are committed, by partition and offset."""
        known = self.cluster.topics([topic])[topic]
        places = [(topic, number) for number in range(known.partitions)]
        starts, ends = self.cluster.starts(places), self.cluster.ends(places)
        return list(
            read_records(self.cluster, {each: (starts[each], ends[each]) for each in places})
        )

    def rows(self, topic: str) -> list[Any]:
        return [json.loads(record.value or b"null") for record in self.records(topic)]
