"""What is done with every batch, on the driver: guard, write, dead letters and offsets, ledger.

Spark knows a batch to be done when this returns. If anything dies before, the same batch comes
again, and each step must know what it has done already: the sink and the dead letters by the
batch's id, the ledger by writing the same entry again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from ottla.pipelines.kafka import Place
from ottla.pipelines.reading.leaving import Leaving
from ottla.pipelines.reading.side import OUT, READ, Side
from ottla.pipelines.repair.entry import Entry
from ottla.pipelines.running.ground import Ground
from ottla.pipelines.running.shape import Shape
from ottla.pipelines.running.status import BatchDone
from ottla.pipelines.sinks.counting import counted
from ottla.pipelines.sinks.letters import Letters
from ottla.pipelines.sinks.port import Batch, Sink
from ottla.pipelines.sinks.rows import arrow_batches
from ottla.timing.clock import Clock


@dataclass(frozen=True, slots=True)
class Batches:
    sink: Sink
    letters: Letters | None  # None: the sink takes them with its rows
    side: Side
    leaving: Leaving
    ground: Ground
    shape: Shape
    start: dict[Place, int]
    bounds: Mapping[Place, int] | None  # nothing is read from there on
    clock: Clock
    on_done: Callable[[BatchDone], None]

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        began_ms = self.clock.now_ms()
        before = self._before(batch_id)
        self.ground.guard.check(before)
        offsets = self.ground.checkpoint.offsets(batch_id)
        batch = Batch(batch_id, offsets, self.side.dead_letters, self._rows)
        rows = self._written(frame, batch)
        if self.letters is not None:
            self.letters.settle(batch)
        entry = self._entry(batch, before, rows, began_ms)
        self.ground.ledger.record(entry)
        self.on_done(_done(entry, duration_ms=self.clock.now_ms() - began_ms))
        # Not when a batch begins: what comes before a shuffle has run by then.
        self.side.clear()

    def _before(self, batch_id: int) -> dict[Place, int]:
        """Where the batch began, but for partitions that were new in it."""
        return self.ground.checkpoint.offsets(batch_id - 1) if batch_id else self.start

    def _written(self, frame: DataFrame, batch: Batch) -> int:
        if self.sink.last_batch() < batch.id:
            return self.sink.write(frame, batch)
        # Its rows last already. It is acted on all the same, for what comes beside the rows.
        seen, rows = counted(self.leaving.in_tasks(frame))
        seen.write.format("noop").mode("append").save()
        return rows()

    def _rows(self, frame: DataFrame) -> Iterator[Any]:
        return self.leaving.on_driver(arrow_batches(frame))

    def _entry(self, batch: Batch, before: dict[Place, int], rows: int, began_ms: int) -> Entry:
        out = self.side.tally(OUT)
        return Entry(
            batch=batch.id,
            began_ms=began_ms,
            starts=self._bounded({place: before.get(place, 0) for place in batch.offsets}),
            ends=self._bounded(batch.offsets),
            tally_in=self.side.tally(READ),
            tally_out=out if out.counts or not rows else None,
            rows_out=rows,
            is_row_wise=self.shape is not Shape.FREE,
            is_row_preserving=self.shape is Shape.PRESERVING,
        )

    def _bounded(self, offsets: Mapping[Place, int]) -> dict[Place, int]:
        """What lies behind the end of a replay was never read, though Spark's offsets pass it."""
        bounds = self.bounds or {}
        return {place: min(at, bounds.get(place, at)) for place, at in offsets.items()}


def _done(entry: Entry, *, duration_ms: int) -> BatchDone:
    total = entry.tally_in.total()
    return BatchDone(
        batch=entry.batch,
        duration_ms=duration_ms,
        rows_in=total.records_in,
        rows_out=entry.rows_out or 0,
        dead_letters=total.dead,
        dropped=total.dropped,
        warned=total.warned,
    )
