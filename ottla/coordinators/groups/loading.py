"""Loads partitions of the offsets log, one after the other, without holding up the loop."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from ottla.coordinators.groups.partition import GroupPartition
from ottla.coordinators.groups.replay import Replay
from ottla.coordinators.slices import Slices
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock
from ottla.timing.timer import Timer

_logger = logging.getLogger(__name__)

_GROUPS_A_STEP = 20


class Loads:
    """One at a time: more would only take more memory, not less time."""

    def __init__(self, slices: Slices, timer: Timer, clock: Clock, *, buffer_bytes: int) -> None:
        self.loaded_count = 0
        self.longest_ms = 0
        self.total_ms = 0
        self._slices = slices
        self._timer = timer
        self._clock = clock
        self._buffer_bytes = buffer_bytes
        self._waiting: deque[GroupPartition] = deque()

    def add(self, partition: GroupPartition) -> None:
        self._waiting.append(partition)
        if len(self._waiting) == 1:
            self._begin()

    def _begin(self) -> None:
        _Load(self._waiting[0], self._slices, self._clock, self._buffer_bytes, self._ended).begin(
            self._timer.now_ms()
        )

    def _ended(self, load: _Load) -> None:
        partition = self._waiting.popleft()
        if not partition.is_loading:
            took_ms = self._timer.now_ms() - load.began_ms
            self.loaded_count += 1
            self.total_ms += took_ms
            self.longest_ms = max(self.longest_ms, took_ms)
            _logger.info(
                "%s: %d groups from %d records in %d ms",
                load.name, len(partition.groups), load.replay.record_count, took_ms,
            )  # fmt: skip
        if self._waiting:
            self._begin()


class _Load:
    def __init__(
        self,
        partition: GroupPartition,
        slices: Slices,
        clock: Clock,
        buffer_bytes: int,
        on_end: Callable[[_Load], None],
    ) -> None:
        self.name = f"__consumer_offsets-{partition.number}"
        self.replay = Replay(self.name)
        self.began_ms = 0
        self._is_broken = False
        self._partition = partition
        self._slices = slices
        self._clock = clock
        self._buffer_bytes = buffer_bytes
        self._on_end = on_end

    def begin(self, now_ms: int) -> None:
        self.began_ms = now_ms
        self._read()

    def _read(self) -> None:
        if self._partition.is_closed:
            self._on_end(self)
            return
        self._partition.runtime.log.read(
            self.replay.next_offset, max_bytes=self._buffer_bytes, on_read=self._absorb
        )

    def _absorb(self, data: bytes | ErrorCode) -> None:
        if self._partition.is_closed:
            self._on_end(self)
        elif isinstance(data, ErrorCode):
            # Its groups are told that it loads still, until somebody leads it who can read it:
            # to say that there is nothing would make consumers start from nothing.
            _logger.error("%s cannot be read: %s", self.name, data.name)
            self._on_end(self)
        elif not data:
            self._finish()
        else:
            before = self.replay.next_offset
            self._slices.run(self._steps(data), lambda: self._absorbed(before))

    def _steps(self, data: bytes) -> Iterator[None]:
        try:
            for _ in self.replay.absorb(data):
                if self._partition.is_closed:
                    return
                yield
        except ValueError as error:
            # As Kafka does it: what is known is better than a coordinator that never comes.
            _logger.error("%s: what follows cannot be read and is lost: %s", self.name, error)
            self._is_broken = True

    def _absorbed(self, before: int) -> None:
        if self._is_broken or self.replay.next_offset == before:
            self._finish()
        else:
            self._read()

    def _finish(self) -> None:
        self._slices.run(self._restore(), self._end)

    def _restore(self) -> Iterator[None]:
        partition = self._partition
        for _ in self.replay.restore(partition):
            if partition.is_closed:
                return
            yield
        hosts = iter(list(partition.groups.values()))
        while step := list(islice(hosts, _GROUPS_A_STEP)):
            if partition.is_closed:
                return
            now_ms = self._clock.now_ms()
            for hosted in step:
                partition.carry_out(hosted, hosted.group.started(now_ms=now_ms), now_ms=now_ms)
            yield
        if not partition.is_closed:
            partition.loaded(self.replay.next_offset)
            if self.replay.unreadable:
                _logger.error(
                    "%s: %d batches or records could not be read", self.name, self.replay.unreadable
                )

    def _end(self) -> None:
        self._on_end(self)
