"""One pipeline from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from py4j.protocol import Py4JError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ottla.pipelines.declaration import Pipeline, Topic, only_topic, place_name
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.reading.leaving import Leaving
from ottla.pipelines.reading.side import Side
from ottla.pipelines.reading.stopping import stopped_by
from ottla.pipelines.running.batches import Batches
from ottla.pipelines.running.delivery import Delivery
from ottla.pipelines.running.ground import Ground
from ottla.pipelines.running.plan import Plan, planned
from ottla.pipelines.running.positions import kept_start
from ottla.pipelines.running.query import (
    SettingRefused,
    ended_within,
    reached,
    start_in_batches,
    start_in_real_time,
)
from ottla.pipelines.running.state import Remembered, StateFolder
from ottla.pipelines.running.status import BatchDone, State, Status, after_batch, first_status
from ottla.pipelines.running.upgrade import refusal
from ottla.pipelines.sinks.port import Guarantee
from ottla.pipelines.sources.batch_size import sized
from ottla.pipelines.sources.topic import first_positions
from ottla.timing.clock import Clock

_HEARTBEAT_MS = 5_000
_JAVA_DIED = (
    "Spark's process of Java ended, most likely for want of memory: give it more with"
    " --conf spark.driver.memory=2g, or take fewer records at once with at_once"
)


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
        self._schemas: dict[str, object] = {}  # of its sources
        self._begun: Status | None = None
        self._is_stopping = False
        self._is_in_batch = False
        self._delivery: Delivery | None = None  # in real time there is none: Spark writes

    def start(
        self,
        *,
        resume: bool = False,
        accept_loss: bool = False,
        accept_repeat: bool = False,
        accept_upgrade: bool = False,
    ) -> None:
        """RunFailed, SinkRefused or DataLoss, before anything has been read."""
        if resume:
            self._state.resume()
        if self._state.stop_asked_ms() is not None:
            raise RunFailed(
                f"{self.pipeline.name} was stopped; `ottla pipeline resume` lets it go on"
            )
        before = self._state.remembered()
        ground = Ground(self._state, self._cluster, before.generation if before else 0)
        start = self._positions = kept_start(ground.folder, self._first_positions)
        side = Side(self._spark)
        plan = self._planned(side, start)
        self._schemas = plan.schemas
        memory = self._memory(plan, ground.generation)
        if before is not None and not accept_upgrade:
            self._refuse_breaking(before, memory)
        if accept_loss:
            ground.guard.accept(ground.checkpoint, ground.ledger, now_ms=self._clock.now_ms())
        ground.guard.check(ground.reached() or start)
        if not self.pipeline.is_realtime:
            app = f"{self.pipeline.name}.{ground.generation}"
            self._delivery = Delivery(
                self.pipeline, app=app, spark=self._spark, cluster=self._cluster
            )
        try:
            if not accept_repeat:
                self._refuse_forgotten(ground)
            self._state.remember(memory)
            self._show(self._begun or self._first_status(ground.generation))
            self._query = self._started(plan, side, ground)
        except SettingRefused as cause:
            self._end(State.FAILED, str(cause))
            raise RunFailed(f"{self.pipeline.name}: {cause}") from cause
        except BaseException:
            self._close()
            raise

    def _started(self, plan: Plan, side: Side, ground: Ground) -> StreamingQuery:
        if self._delivery is None:
            return start_in_real_time(
                plan.pipeline,
                plan.frame,
                bootstrap=self._cluster.bootstrap,
                checkpoint=ground.checkpoint_path,
            )
        leaving = Leaving(side, topic=only_topic(self.pipeline.sources))
        packed = leaving.packed(plan.frame)
        work = Batches(
            sink=self._delivery.sink,
            letters=self._delivery.letters,
            side=side,
            leaving=leaving,
            ground=ground,
            shape=plan.shape,
            start=self._positions,
            bounds=self._ends,
            clock=self._clock,
            on_done=self._batch_done,
        )
        return start_in_batches(
            plan.pipeline,
            packed if self._delivery.sink.sees_rows else leaving.in_tasks(packed),
            lambda frame, batch_id: self._batch(work, frame, batch_id),
            checkpoint=ground.checkpoint_path,
        )

    def _refuse_breaking(self, before: Remembered, now: Remembered) -> None:
        if why := refusal(before, now):
            raise RunFailed(f"{self.pipeline.name} {why}")

    def _refuse_forgotten(self, ground: Ground) -> None:
        """A batch was begun, and the group that would know whether it was written has forgotten.

        Offsets of a group that nobody uses expire, and with them the number of the last batch.
        """
        planned, done = ground.checkpoint.last_planned(), ground.checkpoint.last_committed()
        if planned is None or done is None or planned == done:
            return
        sink = self._delivery.sink if self._delivery else None
        if sink is None or not sink.takes_offsets or sink.last_batch() >= done:
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
            if self._delivery is None:
                self._commit_progress()
        try:
            if self._is_to_stop():
                self.stop()  # again, if there was a batch in hand: there may be no next one
            if not ended_within(self._query, seconds):
                return False
        except StreamingQueryException as cause:
            return self._ended_by(self._failure or cause)
        except (Py4JError, ConnectionError) as cause:
            self._end(State.FAILED, _JAVA_DIED)
            raise RunFailed(f"{self.pipeline.name}: {_JAVA_DIED}") from cause
        self._end(State.STOPPED if self._is_stopping else State.FINISHED)
        return True

    def stop(self) -> None:
        """The batch in hand is finished; the next is not begun."""
        self._is_stopping = True
        if not self._is_in_batch:
            self._query.stop()

    def _ended_by(self, cause: Exception) -> bool:
        """False if it goes on all the same."""
        stopped = stopped_by(str(cause))
        is_wider = stopped is not None and stopped.is_wider
        if isinstance(cause, _StopAsked) or (is_wider and self._is_to_stop()):
            self._end(State.STOPPED)
            return True
        why = stopped.sentence if stopped else _sentence(cause)
        try:
            if is_wider and self._has_new_schemas():
                self._begin_again()
                return False
        except RunFailed as failure:  # in our own words, which may be several lines
            self._end(State.FAILED, str(failure))
            raise
        except Exception as failure:
            why, cause = _sentence(failure), failure
        self._end(State.FAILED, why)
        raise RunFailed(f"{self.pipeline.name}: {why}") from cause

    def _is_to_stop(self) -> bool:
        return self._is_stopping or self._state.stop_asked_ms() is not None

    def _has_new_schemas(self) -> bool:
        return self._planned(Side(self._spark), self._positions).schemas != self._schemas

    def _begin_again(self) -> None:
        """The batch that could not be read comes again, in columns that are wide enough."""
        self._begun = self.status  # for whoever looks nothing has begun anew
        self._close()
        self._failure = None
        self.start()

    def _end(self, state: State, why: str | None = None) -> None:
        self._close()
        ended = replace(self.status, state=state, updated_ms=self._clock.now_ms(), last_error=why)
        self._show(ended)

    def _close(self) -> None:
        if self._delivery is not None:
            self._delivery.close()
            self._delivery = None

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

    def _commit_progress(self) -> None:
        """For people to look at: it goes on from Spark's own checkpoint, not from here."""
        if places := reached(self._query):
            self._cluster.commit(self.pipeline.group, places)

    def _memory(self, plan: Plan, generation: int) -> Remembered:
        return Remembered(
            generation=generation,
            topics=self.pipeline.topics,
            sink=place_name(self.pipeline.sink),
            schemas=plan.schemas,
            stateful=plan.stateful,
            declared_at=self.pipeline.place,
        )

    def _planned(self, side: Side, start: Mapping[Place, int]) -> Plan:
        return planned(
            sized(self.pipeline, self._cluster),
            self._spark,
            side,
            bootstrap=self._cluster.bootstrap,
            connector=self._connector,
            start=start,
            ends=self._ends,
        )

    def _first_status(self, generation: int) -> Status:
        sink = self._delivery.sink if self._delivery else None
        return first_status(
            self.pipeline,
            bootstrap=self._cluster.bootstrap,
            guarantee=sink.guarantee if sink else Guarantee.AT_LEAST_ONCE,
            generation=generation,
            now_ms=self._clock.now_ms(),
        )


def _sentence(cause: Exception) -> str:
    text = str(cause).strip()
    return text.splitlines()[0] if text else type(cause).__name__
