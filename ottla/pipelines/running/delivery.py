"""Where the batches of a run go: into its sink, and dead letters beside it."""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql import SparkSession

from ottla.pipelines.declaration import Pipeline
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.sinks.letters import Letters
from ottla.pipelines.sinks.making import make_letters, make_sink
from ottla.pipelines.sinks.port import Sink


class Delivery:
    """Open from the start of a run to its end."""

    def __init__(
        self, pipeline: Pipeline, *, app: str, spark: SparkSession, cluster: Cluster
    ) -> None:
        self.sink: Sink = make_sink(pipeline, app=app, spark=spark, cluster=cluster)
        self.letters: Letters | None = None  # the sink takes them with its rows
        if not self.sink.takes_offsets:
            self.letters = make_letters(pipeline, app=app, cluster=cluster)
        with ExitStack() as opened:
            for each in (self.sink, self.letters):
                if each is not None:
                    each.open()
                    opened.callback(each.close)
            self._opened = opened.pop_all()

    def close(self) -> None:
        self._opened.close()
