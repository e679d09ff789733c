"""Decide, append, apply, reply, over one partition of an internal topic.

Rules return effects; here they are carried out. What all machines of a partition want stored in one
round of the loop is one batch: that is what makes many small commits cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Protocol, assert_never

from ottla.coordinators.effects import (
    Append,
    CancelTimer,
    Effects,
    Record,
    RecordRows,
    Reply,
    SetTimer,
)
from ottla.coordinators.log import CoordinatorLog, Producer
from ottla.coordinators.timers import Timers
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import BATCH_OVERHEAD
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick

OnStored = Callable[[ErrorCode], None]

# Lengths, attributes, timestamp and offset of a record, and no headers.
_RECORD_OVERHEAD = 21


class Machine(Protocol):
    """Rules that are told what became of what they asked for."""

    def timer_due(self, key: tuple[str, ...], *, now_ms: int) -> Effects: ...
    def stored(self, token: Hashable, *, now_ms: int) -> Effects: ...
    def refused(self, token: Hashable, error: ErrorCode, *, now_ms: int) -> Effects: ...


class _Batch:
    """Who waits for one append; nobody after they were told."""

    __slots__ = ("_in_flight", "records", "size_bytes", "waiting")

    def __init__(self, in_flight: dict[_Batch, None]) -> None:
        self.records: list[Record | RecordRows] = []
        self.size_bytes = BATCH_OVERHEAD
        self.waiting: list[OnStored] = []
        self._in_flight = in_flight

    def stored(self, error: ErrorCode) -> None:
        """The log has answered; if nobody leads it here any more, all have been told."""
        self._in_flight.pop(self, None)
        for on_stored in self.waiting:
            on_stored(error)

    def give_up(self) -> None:
        """Nobody will lead it here when the log answers."""
        waiting, self.waiting = self.waiting, []
        for on_stored in waiting:
            on_stored(ErrorCode.NOT_LEADER_OR_FOLLOWER)


class Runtime:
    """One partition, from when it is led here to when it is not. `close` ends it for good."""

    def __init__(self, log: CoordinatorLog, tick: Tick, clock: Clock, *, timeout_ms: int) -> None:
        self.log = log
        self.is_closed = False
        self._tick = tick
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._queued: list[_Batch] = []
        self._in_flight: dict[_Batch, None] = {}

    def append(self, records: Sequence[Record], on_stored: OnStored) -> None:
        """In one batch with whatever else comes in this round, as long as that has room."""
        size_bytes = sum(len(record[0]) + len(record[1] or b"") for record in records)
        size_bytes += _RECORD_OVERHEAD * len(records)
        self.append_rows(records, on_stored, size_bytes=size_bytes)

    def append_rows(
        self,
        rows: Sequence[Record | RecordRows],
        on_stored: OnStored,
        *,
        size_bytes: int,  # at most
    ) -> None:
        """As `append`."""
        assert not self.is_closed, "an append to a partition that is led elsewhere"
        queued = self._queued
        if not queued:
            self._tick.write(self._flush)
            queued.append(_Batch(self._in_flight))
        batch = queued[-1]
        if batch.records and batch.size_bytes + size_bytes > self.log.max_batch_bytes:
            batch = _Batch(self._in_flight)
            queued.append(batch)
        batch.records += rows
        batch.size_bytes += size_bytes
        batch.waiting.append(on_stored)

    def append_transactional(
        self, records: Sequence[Record], on_stored: OnStored, *, producer: Producer
    ) -> None:
        """A batch of its own, which is the log's before this returns.

        So nothing comes between it and whoever has just seen that the transaction is open. What was
        asked for before it goes before it.
        """
        assert not self.is_closed, "an append to a partition that is led elsewhere"
        self._flush()
        batch = _Batch(self._in_flight)
        batch.records += records
        batch.waiting.append(on_stored)
        self._in_flight[batch] = None
        self.log.append(batch.records, batch.stored, timeout_ms=self._timeout_ms, producer=producer)

    def carry_out(self, machine: Machine, effects: Effects, timers: Timers, *, now_ms: int) -> None:
        held: list[Reply] | None = None
        for effect in effects:
            if isinstance(effect, Reply):
                if held is None:
                    effect.to(effect.answer)
                else:
                    held.append(effect)  # it shows what is not stored yet
            elif isinstance(effect, SetTimer):
                timers.set(effect.key, due_ms=effect.due_ms, now_ms=now_ms)
            elif isinstance(effect, CancelTimer):
                timers.cancel(effect.key)
            elif isinstance(effect, Append):
                assert held is None, "two appends in one decision"
                held = []
                if not self.is_closed:
                    told = partial(self._told, machine, timers, effect.token, held)
                    self.append(effect.records, told)
            else:
                assert_never(effect)

    def close(self) -> None:
        """Led elsewhere from now on: whoever waits for an append hears it, and nobody later."""
        self.is_closed = True
        batches, self._queued = [*self._in_flight, *self._queued], []
        self._in_flight.clear()
        for batch in batches:
            batch.give_up()

    def _flush(self) -> None:
        batches, self._queued = self._queued, []
        for batch in batches:
            self._in_flight[batch] = None
            self.log.append(batch.records, batch.stored, timeout_ms=self._timeout_ms)

    def _told(
        self,
        machine: Machine,
        timers: Timers,
        token: Hashable,
        held: list[Reply],
        error: ErrorCode,
    ) -> None:
        now_ms = self._clock.now_ms()
        if error is not ErrorCode.NONE:
            effects = machine.refused(token, error, now_ms=now_ms)
        else:
            effects = machine.stored(token, now_ms=now_ms)
        self.carry_out(machine, effects, timers, now_ms=now_ms)
        if error is ErrorCode.NONE:
            for reply in held:
                reply.to(reply.answer)
