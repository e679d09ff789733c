"""Partitions on their way to another log directory of this broker, while produce and fetch go on.

One at a time, in pieces; what would wait for a disk does so in the file threads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.replication.replicas import Replicas
from ottla.storage.directories import Move
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.flushing import begin_flush, end_flush
from ottla.storage.log import Log
from ottla.storage.rate_limit import RateLimit
from ottla.storage.slice import Slice
from ottla.storage.threads import Background
from ottla.timing.clock import Clock
from ottla.timing.timer import Timer

_logger = logging.getLogger(__name__)
_PIECE_BYTES = 1024 * 1024
_POLL_MS = 5
_RETRY_MS = 1_000


class LogMoves:
    """`bytes_per_second` is asked before each piece: it may change while a move is under way."""

    def __init__(
        self,
        replicas: Replicas,
        background: Background,
        timer: Timer,
        clock: Clock,
        *,
        new_tag: Callable[[], str],
        bytes_per_second: Callable[[], int],
    ) -> None:
        self._replicas = replicas
        self._directories = replicas.directories
        self._background = background
        self._timer = timer
        self._clock = clock
        self._new_tag = new_tag  # 32 hexadecimal digits, for the name of a folder
        self._bytes_per_second = bytes_per_second
        self._rate = 0
        self._limit = RateLimit(1)
        self._current: Move | None = None
        self._steps: Iterator[int] = iter(())
        self._is_running = False

    def move(self, partition: Partition, to_path: str) -> None:
        """Begin, unless it is there or on its way. A move to elsewhere is given up."""
        directories, name = self._directories, (partition.topic, partition.index)
        partition.local_log()
        holder, under_way = directories.find(name), directories.moves.get(name)
        assert holder is not None, f"{partition} has a log in no directory"
        if under_way is not None:
            if under_way.target.path == to_path:
                return
            directories.cancel_move(name, tag=self._new_tag())
        if holder.path != to_path:
            now_ms = self._clock.now_ms()
            directories.start_move(name, to_path, tag=self._new_tag(), now_ms=now_ms)
            self._run()

    def resume(self) -> None:
        """After a start: what the last stop has cut short begins anew."""
        self._resume(self._directories.interrupted_moves(self._new_tag))

    def _resume(self, moves: list[tuple[tuple[str, int], str]]) -> None:
        """As soon as the controller has told us of a partition."""
        later = []
        for name, to_path in moves:
            partition = self._replicas.partitions.get(name)
            if partition is None:
                later.append((name, to_path))
            elif partition.log is not None and to_path in self._directories.online:
                self.move(partition, to_path)
        if later:
            self._timer.call_after(_RETRY_MS, lambda: self._resume(later))

    def _run(self) -> None:
        if not self._is_running:
            self._is_running = True
            self._timer.call_after(1, self._step)

    def _step(self) -> None:
        moves = self._directories.moves
        name = next(iter(moves), None)
        if name is None:
            self._is_running, self._current = False, None
            return
        if self._current is not moves[name]:
            self._current, self._steps = moves[name], self._copy(name, moves[name])
        delay_ms = 1
        try:
            delay_ms = next(self._steps, delay_ms)
        except DiskFailed as error:
            self._replicas.disk_failed(error)
        except (OSError, KafkaError, CorruptLog) as error:
            _logger.error("%s-%d cannot be moved now, trying again: %s", *name, error)
            if name in moves:
                moves[name] = moves.pop(name)  # others have their turn first
            self._current, delay_ms = None, _RETRY_MS
        self._timer.call_after(delay_ms, self._step)

    def _copy(self, name: tuple[str, int], move: Move) -> Iterator[int]:
        """Yields how many milliseconds to wait before the next step."""
        directories, now_ms = self._directories, self._clock.now_ms
        partition = self._replicas.partitions.get(name)
        source = partition.log if partition is not None else None
        is_flushed = False
        while source is not None and self._is_the_log_of(name, source):
            piece = directories.next_of_move(name, max_bytes=_PIECE_BYTES, now_ms=now_ms())
            if piece is not None and not piece.is_cached():
                yield from self._read_ahead(piece)
                if not self._is_the_log_of(name, source):
                    break
            if not directories.continue_move(name, max_bytes=_PIECE_BYTES, now_ms=now_ms()):
                yield self._pause_ms(piece.length if piece is not None else 0)
            elif not is_flushed:
                # So that the switch itself waits for no disk, and a power cut takes no more
                # from the copy than it would have taken from the original.
                yield from self._flush(move.future)
                is_flushed = True
            else:
                self._switch(name)
                return
        directories.cancel_move(name, tag=self._new_tag())

    def _is_the_log_of(self, name: tuple[str, int], source: Log) -> bool:
        partition = self._replicas.partitions.get(name)
        return partition is not None and partition.log is source

    def _read_ahead(self, piece: Slice) -> Iterator[int]:
        piece.file.pin()  # retention may take the segment away meanwhile
        try:
            yield from self._wait(piece.read_ahead)
        finally:
            piece.file.unpin()

    def _flush(self, log: Log) -> Iterator[int]:
        flush = begin_flush(log)
        if flush is not None:
            yield from self._wait(flush.run)
            end_flush(log, flush)

    def _wait(self, work: Callable[[], None]) -> Iterator[int]:
        future = self._background.submit(work)
        while not future.done():
            yield _POLL_MS
        future.result()

    def _pause_ms(self, size_bytes: int) -> int:
        rate = max(1, self._bytes_per_second())
        if rate != self._rate:
            self._rate, self._limit = rate, RateLimit(rate)
        seconds = self._limit.spend(size_bytes, now_s=self._timer.now_ms() / 1000)
        return max(1, round(seconds * 1000))

    def _switch(self, name: tuple[str, int]) -> None:
        """From here on the copy is the log; nothing ran since it was found to be complete."""
        now_ms, directories = self._clock.now_ms(), self._directories
        partition = self._replicas.partitions[name]
        directories.finish_move(name, tag=self._new_tag(), now_ms=now_ms)
        holder = directories.find(name)
        assert holder is not None
        partition.switch_to(holder.log(name, now_ms=now_ms))
        _logger.info("%s is in %s now", partition, holder.path)
        self._replicas.recheck(partition)


def check_log_dir(replicas: Replicas, path: str) -> None:
    """Whether partitions may be moved there."""
    directories = replicas.directories
    if path in directories.offline:
        detail = f"the log directory {path} is offline: {directories.offline[path]}"
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, detail)
    if path not in directories.online:
        known = ", ".join(directories.online)
        detail = f"{path} is not one of the log directories of this broker: {known}"
        raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND, detail)
