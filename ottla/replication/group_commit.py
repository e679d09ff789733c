"""`flush.messages`: when so many records are not synced, nobody is told of them before they are.

One sync at a time in a file thread. Whatever is appended meanwhile shares the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ottla.storage.files import DiskFailed
from ottla.storage.flushing import begin_flush, end_flush
from ottla.storage.hop import Hop
from ottla.storage.log import Log

_logger = logging.getLogger(__name__)


class GroupCommit:
    """For one log. `goal` is the offset up to which it must be synced before it counts."""

    __slots__ = ("_hop", "_is_flushing", "_log", "_on_failed", "_on_flushed", "goal")

    def __init__(
        self,
        log: Log,
        hop: Hop,
        *,
        on_flushed: Callable[[], None],
        on_failed: Callable[[DiskFailed], None],
    ) -> None:
        self.goal = 0
        self._log = log
        self._hop = hop
        self._on_flushed = on_flushed
        self._on_failed = on_failed
        self._is_flushing = False

    def written(self) -> None:
        """After each write of the log."""
        log = self._log
        if log.next_offset - log.recovery_point >= log.config.flush_messages:
            self.need(log.next_offset)

    def need(self, goal: int) -> None:
        """Nothing below `goal` counts before it is synced."""
        self.goal = goal
        if self._log.recovery_point < goal and not self._is_flushing:
            self._start()

    def waits(self, required_offset: int) -> bool:
        """Whether what ends at this offset must still be synced."""
        return self._log.recovery_point < min(required_offset, self.goal)

    def _start(self) -> None:
        try:
            flush = begin_flush(self._log)
        except OSError:
            return  # the disk is full; whoever was to be written now hears it
        except DiskFailed as error:
            self._on_failed(error)
            return
        if flush is None:
            return
        self._is_flushing = True

        def ended(error: BaseException | None) -> None:
            self._is_flushing = False
            if isinstance(error, DiskFailed):
                self._on_failed(error)
                return
            if isinstance(error, OSError):
                # The disk is full. The next write tries again; who cannot wait so long times out.
                _logger.error("%s is not synced: %s", self._log.folder, error)
                return
            assert error is None, error
            end_flush(self._log, flush)
            self._on_flushed()
            if self._log.recovery_point < self.goal:
                self._start()

        self._hop.run(flush.run, ended)
