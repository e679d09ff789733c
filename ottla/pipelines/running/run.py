"""One pipeline from its start to its end."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ottla.pipelines.declaration import Pipeline, Topic, place_name
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.reading.side import Side
from ottla.pipelines.running.batches import Batches
from ottla.pipelines.running.ground import Ground
from ottla.pipelines.running.plan import Plan, planned
from ottla.pipelines.running.positions import kept_start, places_from_json
from ottla.pipelines.running.state import Remembered, StateFolder
from ottla.pipelines.running.status import BatchDone, State, Status, after_batch
from ottla.pipelines.running.upgrade import differences
from ottla.pipelines.sinks.letters import Letters
from ottla.pipelines.sinks.making import make_letters, make_sink
from ottla.pipelines.sinks.port import Guarantee, Sink
from ottla.pipelines.sinks.realtime import start_realtime
from ottla.pipelines.sources.topic import first_positions
from ottla.timing.clock import Clock

_HEARTBEAT_MS = 5_000
_REALTIME_EVERY = "10 seconds"
_STOPPED_BY_RULE = re.compile(r"OTTLA-STOP ([^\n]*)")


class RunFailed(Exception):
    """Why it did not start, or ended, in a sentence for its user."""


class _StopAsked(Exception):
    """It was to stop before this batch."""


class Run:
    """Of the session it uses nothing but its own query, so that several share one."""

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        spark: SparkSession,
        cluster: Cluster,
        state: StateFolder,
        clock: Clock,
        connector: bool = True,
        ends: Mapping[Place, int] | None = None,
        on_batch: Callable[[Status], None] = lambda status: None,
    ) -> None:
        self.pipeline = pipeline
        self._spark = spark
        self._cluster = cluster
        self._state = state
        self._clock = clock
        self._connector = connector
        self._ends = ends
        self._on_batch = on_batch
        self._failure: Exception | None = None
        self._is_stopping = False
        self._is_in_batch = False
        self._sink: Sink | None = None
        self._letters: Letters | None = None

    def start(
        self,
        *,
        accept_loss: bool = False,
        accept_repeat: bool = False,
        accept_upgrade: bool = False,
    ) -> None:
        """RunFailed, SinkRefused or DataLoss, before anything has been read."""
        if self._state.stop_asked_ms() is not None:
            raise RunFailed(
                f"{self.pipeline.name} was stopped; `ottla pipeline resume` lets it go on"
            )
        before = self._state.remembered()
        ground = Ground(self._state, self._cluster, before.generation if before else 0)
        start = self._positions = kept_start(ground.folder, self._first_positions)
        side = Side(self._spark)
        plan = self._planned(side, start)
        memory = self._memory(plan, ground.generation)
        if before is not None and not accept_upgrade:
            _refuse_breaking(self.pipeline.name, before, memory)
        if accept_loss:
            ground.guard.accept(ground.checkpoint, ground.ledger, now_ms=self._clock.now_ms())
        ground.guard.check(ground.reached() or start)
        self._open_sink(f"{self.pipeline.name}.{ground.generation}")
        if not accept_repeat:
            self._refuse_forgotten(ground)
        self._state.remember(memory)
        self._show(self._first_status(ground.generation))
        if self._sink is None:
            self._query = self._started_realtime(plan.frame, ground.checkpoint_path)
            return
        work = Batches(
            sink=self._sink,
            letters=self._letters,
            side=side,
            ground=ground,
            shape=plan.shape,
            start=start,
            bounds=self._ends,
            clock=self._clock,
            on_done=self._batch_done,
        )
        self._query = self._started(plan.frame, work, ground.checkpoint_path)

    def _refuse_forgotten(self, ground: Ground) -> None:
        """A batch was begun, and the group that would know whether it was written has forgotten.

        Offsets of a group that nobody uses expire, and with them the number of the last batch.
        """
        planned, done = ground.checkpoint.last_planned(), ground.checkpoint.last_committed()
        if planned is None or done is None or planned == done:
            return
        if self._sink is None or not self._sink.takes_offsets or self._sink.last_batch() >= done:
            return
        raise RunFailed(
            f"{self.pipeline.name}: batch {planned} was begun and not finished, and the group"
            f" {self.pipeline.group} no longer knows whether {place_name(self.pipeline.sink)} has"
            " it. Look there; --accept-repeat writes it again, `ottla pipeline reset` begins anew"
        )

    def expected(self) -> int | None:
        """How many offsets lie between its start and its end; None if it has no end."""
        if not self.pipeline.trigger.once or not self._positions:
            return None
        ends = self._ends or self._cluster.ends(self._positions)
        return sum(max(0, ends[place] - at) for place, at in self._positions.items())

    def wait(self, seconds: float) -> bool:
        """True once it has ended well. RunFailed if it did not."""
        now_ms = self._clock.now_ms()
        if now_ms - self.status.updated_ms > _HEARTBEAT_MS:
            self._show(replace(self.status, updated_ms=now_ms))
            if self._sink is None:
                self._commit_progress()
        if self._is_stopping or self._state.stop_asked_ms() is not None:
            self.stop()  # again, if there was a batch in hand: there may be no next one
        try:
            await_end: Any = self._query.awaitTermination  # its types know no fractions
            if not await_end(seconds):
                return False
        except StreamingQueryException as cause:
            self._ended_by(cause)
            return True
        self._end(State.STOPPED if self._is_stopping else State.FINISHED)
        return True

    def stop(self) -> None:
        """The batch in hand is finished; the next is not begun."""
        self._is_stopping = True
        if not self._is_in_batch:
            self._query.stop()

    def _ended_by(self, cause: StreamingQueryException) -> None:
        if isinstance(self._failure, _StopAsked):
            self._end(State.STOPPED)
            return
        why = _sentence(self._failure or cause)
        self._end(State.FAILED, why)
        raise RunFailed(f"{self.pipeline.name}: {why}") from self._failure or cause

    def _end(self, state: State, why: str | None = None) -> None:
        if self._sink is not None:
            self._sink.close()
        if self._letters is not None:
            self._letters.close()
        ended = replace(self.status, state=state, updated_ms=self._clock.now_ms(), last_error=why)
        self._show(ended)

    def _batch(self, work: Batches, frame: DataFrame, batch_id: int) -> None:
        """On a thread of Spark's, whose words for what is raised here are pages: it is kept."""
        try:
            if self._is_stopping:
                raise _StopAsked
            self._is_in_batch = True
            work(frame, batch_id)
        except Exception as cause:
            self._failure = cause
            raise
        finally:
            self._is_in_batch = False

    def _batch_done(self, done: BatchDone) -> None:
        self._show(after_batch(self.status, done, now_ms=self._clock.now_ms()))
        self._on_batch(self.status)

    def _show(self, status: Status) -> None:
        self.status = status
        self._state.show(status)

    def _first_positions(self) -> dict[Place, int]:
        found: dict[Place, int] = {}
        for source in self.pipeline.sources:
            if isinstance(source, Topic):
                found |= first_positions(self._cluster, source)
        return found

    def _memory(self, plan: Plan, generation: int) -> Remembered:
        return Remembered(
            generation=generation,
            topics=_topics(self.pipeline),
            sink=place_name(self.pipeline.sink),
            schemas=plan.schemas,
            stateful=plan.stateful,
            declared_at=self.pipeline.place,
        )

    def _planned(self, side: Side, start: Mapping[Place, int]) -> Plan:
        return planned(
            self.pipeline,
            self._spark,
            side,
            bootstrap=self._cluster.bootstrap,
            connector=self._connector,
            start=start,
            ends=self._ends,
        )

    def _open_sink(self, app: str) -> None:
        """In real time there is none: Spark writes."""
        if self.pipeline.is_realtime:
            return
        self._sink = make_sink(self.pipeline, app=app, spark=self._spark, cluster=self._cluster)
        self._sink.open()
        if not self._sink.takes_offsets:
            self._letters = make_letters(self.pipeline, app=app, cluster=self._cluster)
            self._letters.open()

    def _first_status(self, generation: int) -> Status:
        now_ms = self._clock.now_ms()
        return Status(
            pipeline=self.pipeline.name,
            state=State.STARTING,
            group=self.pipeline.group,
            bootstrap=self._cluster.bootstrap,
            sink=place_name(self.pipeline.sink),
            guarantee=self._sink.guarantee if self._sink else Guarantee.AT_LEAST_ONCE,
            topics=_topics(self.pipeline),
            pid=os.getpid(),
            host=socket.gethostname(),
            started_ms=now_ms,
            updated_ms=now_ms,
            generation=generation,
        )

    def _started_realtime(self, frame: DataFrame, checkpoint: str) -> StreamingQuery:
        assert isinstance(self.pipeline.sink, Topic)
        return start_realtime(
            frame,
            self.pipeline.sink,
            bootstrap=self._cluster.bootstrap,
            checkpoint=checkpoint,
            name=self.pipeline.name,
            every=self.pipeline.trigger.every or _REALTIME_EVERY,
        )

    def _commit_progress(self) -> None:
        """For people to look at: it goes on from Spark's own checkpoint, not from here."""
        progress: Any = self._query.lastProgress
        for source in progress["sources"] if progress else ():
            # A text while it runs, of what is a value once a batch has ended.
            end = source["endOffset"]
            if end:
                text = end if isinstance(end, str) else json.dumps(end)
                self._cluster.commit(self.pipeline.group, places_from_json(text.encode()))

    def _started(self, frame: DataFrame, work: Batches, checkpoint: str) -> StreamingQuery:
        writer = (
            frame.writeStream.queryName(self.pipeline.name)
            .outputMode(self.pipeline.output_mode)
            .option("checkpointLocation", checkpoint)
            .foreachBatch(lambda batch, batch_id: self._batch(work, batch, batch_id))
        )
        trigger = self.pipeline.trigger
        if trigger.once:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=trigger.every or "0 seconds").start()


def _topics(pipeline: Pipeline) -> tuple[str, ...]:
    return tuple(
        name for source in pipeline.sources if isinstance(source, Topic) for name in source.names
    )


def _refuse_breaking(name: str, before: Remembered, now: Remembered) -> None:
    breaking = [found.sentence for found in differences(before, now) if found.is_breaking]
    if breaking:
        listed = "".join(f"\n  - {sentence}" for sentence in breaking)
        raise RunFailed(
            f"{name} does not fit its checkpoint any more:{listed}\n"
            "Take the change back, begin anew with `ottla pipeline reset`, or go on as it is with"
            " --accept-upgrade"
        )


def _sentence(cause: Exception) -> str:
    """Spark wraps what happened into pages; what was meant for people is in there."""
    text = str(cause)
    if found := _STOPPED_BY_RULE.search(text):
        return found[1]
    return text.strip().splitlines()[0] if text.strip() else type(cause).__name__
