"""What running pipelines needs besides them: a session with the right jars, a cluster, folders."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from ottla.pipelines.declaration import DeltaTable, Pipeline
from ottla.pipelines.jars import CONNECTOR, DELTA, JarsMissing, have
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.running.run import Run
from ottla.pipelines.running.state import StateFolder
from ottla.pipelines.running.status import Status
from ottla.pipelines.session import session
from ottla.timing.clock import Clock


class Launch:
    def __init__(
        self,
        bootstrap: str,
        root: str,
        clock: Clock,
        *,
        master: str,
        jars: str | None,
        conf: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self.clock = clock
        self.cluster = Cluster(bootstrap)
        self._root = root
        self._master = master
        self._jars = jars
        self._conf = conf
        self._say = say
        self._spark: SparkSession | None = None
        self._has_connector = False

    def root_of(self, pipeline: Pipeline) -> str:
        return pipeline.state or self._root

    def begin(self, pipelines: Sequence[Pipeline]) -> SparkSession:
        """A session that they can run on; JarsMissing if a sink needs some that cannot be had."""
        delta = any(isinstance(each.sink, DeltaTable) for each in pipelines)
        paths = have(DELTA, folder=self._jars) if delta else []
        connector = self._connector()
        self._has_connector = bool(connector)
        self._spark = session(
            master=self._master, jars=[*connector, *paths], settings=self._conf, delta=delta
        )
        return self._spark

    def runs(
        self,
        pipelines: Sequence[Pipeline],
        *,
        on_batch: Callable[[Status], None],
        ends: Mapping[Place, int] | None = None,
    ) -> list[Run]:
        spark = self._spark or self.begin(pipelines)
        return [
            Run(
                each,
                spark=spark,
                cluster=self.cluster,
                state=StateFolder(self.root_of(each), each.name, spark),
                clock=self.clock,
                connector=self._has_connector,
                ends=ends,
                on_batch=on_batch,
            )
            for each in pipelines
        ]

    def _connector(self) -> list[str]:
        try:
            return have(CONNECTOR, folder=self._jars)
        except JarsMissing as cause:
            self._say(f"{cause}; reading through Python instead, which is slower")
            return []

    def close(self) -> None:
        if self._spark is not None:
            with contextlib.suppress(Py4JError, ConnectionError):  # it died before
                self._spark.stop()
