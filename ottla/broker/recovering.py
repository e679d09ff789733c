"""What an operator hears while logs are checked after an unclean stop."""

from __future__ import annotations

import logging

from ottla.storage.directories import LogDirectories
from ottla.timing.clock import Clock

_logger = logging.getLogger(__name__)
_EVERY_MS = 2_000
_MB = 1_000_000


class Recovering:
    """Called with the bytes that were checked; says now and then how far it is."""

    def __init__(self, directories: LogDirectories, clock: Clock) -> None:
        self._clock = clock
        self._told_ms = clock.now_ms()
        self._checked_bytes = 0
        for directory in directories.online.values():
            if not directory.was_clean:
                _logger.warning(
                    "%s was not closed cleanly: its %d partitions are checked",
                    directory.path,
                    len(directory.folders),
                )

    def __call__(self, size_bytes: int) -> None:
        self._checked_bytes += size_bytes
        now_ms = self._clock.now_ms()
        if now_ms - self._told_ms >= _EVERY_MS:
            self._told_ms = now_ms
            _logger.warning("checked %d MB of logs so far", self._checked_bytes // _MB)
