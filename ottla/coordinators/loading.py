"""Loads partitions of a coordinator's log, one after the other, without holding up the loop."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sized
from typing import Protocol

from ottla.coordinators.replay import Replay
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.slices import Slices
from ottla.protocol.errors import ErrorCode
from ottla.timing.timer import Timer

_logger = logging.getLogger(__name__)


class Loadable(Protocol):
    """A partition that was just elected."""

    @property
    def runtime(self) -> Runtime: ...
    @property
    def is_loading(self) -> bool: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def hosts(self) -> Sized:
        """What it coordinates."""
        ...

    def new_replay(self) -> Replay: ...

    def restore(self, replay: Replay) -> Iterator[None]:
        """Takes over what is left of the log, step by step, and serves from the last step on."""
        ...


class Loads:
    """One at a time: more would only take more memory, not less time."""

    def __init__(self, slices: Slices, timer: Timer, *, buffer_bytes: int) -> None:
        self.loaded_count = 0
        self.longest_ms = 0
        self.total_ms = 0
        self._slices = slices
        self._timer = timer
        self._buffer_bytes = buffer_bytes
        self._waiting: deque[Loadable] = deque()

    def add(self, partition: Loadable) -> None:
        self._waiting.append(partition)
        if len(self._waiting) == 1:
            self._begin()

    def _begin(self) -> None:
        _Load(self._waiting[0], self._slices, self._buffer_bytes, self._ended).begin(
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
                "%s: loaded %d from %d records in %d ms",
                load.replay.name, len(partition.hosts), load.replay.record_count, took_ms,
            )  # fmt: skip
        if self._waiting:
            self._begin()


class _Load:
    def __init__(
        self,
        partition: Loadable,
        slices: Slices,
        buffer_bytes: int,
        on_end: Callable[[_Load], None],
    ) -> None:
        self.replay = partition.new_replay()
        self.began_ms = 0
        self._is_broken = False
        self._partition = partition
        self._slices = slices
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
            # Its clients are told that it loads still, until somebody leads it who can read it:
            # to say that there is nothing would make them start from nothing.
            _logger.error("%s cannot be read: %s", self.replay.name, data.name)
            self._on_end(self)
        elif not data:
            self._finish()
        else:
            before = self.replay.next_offset
            steps = self._until_closed(self._absorbing(data))
            self._slices.run(steps, lambda: self._absorbed(before))

    def _absorbing(self, data: bytes) -> Iterator[None]:
        try:
            yield from self.replay.absorb(data)
        except ValueError as error:
            # As Kafka does it: what is known is better than a coordinator that never comes.
            _logger.error(
                "%s: what follows cannot be read and is lost: %s", self.replay.name, error
            )
            self._is_broken = True

    def _absorbed(self, before: int) -> None:
        if self._is_broken or self.replay.next_offset == before:
            self._finish()
        else:
            self._read()

    def _finish(self) -> None:
        self._slices.run(self._until_closed(self._partition.restore(self.replay)), self._end)

    def _until_closed(self, steps: Iterator[None]) -> Iterator[None]:
        while not self._partition.is_closed and next(steps, False) is None:
            yield

    def _end(self) -> None:
        if self.replay.unreadable and not self._partition.is_closed:
            _logger.error(
                "%s: %d batches or records could not be read",
                self.replay.name, self.replay.unreadable,
            )  # fmt: skip
        self._on_end(self)
