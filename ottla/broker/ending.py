"""How a broker's process is told to end: by a signal, or by the end of whoever started it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from ottla.config.option import ConfigError

_STDIN = 0
_HASTE = b"ottla: ended at once, unfinished; the next start looks through the logs.\n"


class Ending:
    """The first SIGTERM or Ctrl-C lets the broker finish; a Ctrl-C after that does not.

    A second SIGTERM changes nothing: whoever sends them means the same, and can still kill.
    """

    def __init__(self) -> None:
        self._is_told = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finish: Callable[[], object] | None = None

    def take_signals(self) -> None:
        """Python's own way, not the loop's: a loop that is stuck would never hear the second."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if self._is_told and number == signal.SIGTERM:
            return
        if self._is_told:
            os.write(sys.stderr.fileno(), _HASTE)
            os._exit(128 + number)
        self._is_told = True
        # Before there is a loop nothing is cut short, a folder half made would be left: `on_told`.
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end)

    def watch_stdin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Its other end is with whoever started us, and is closed even if that one is killed."""
        try:
            loop.add_reader(_STDIN, self._read_stdin)
        except PermissionError as error:  # epoll takes no files
            raise ConfigError("--until-stdin-closes needs a pipe as its standard input") from error

    def _read_stdin(self) -> None:
        if not os.read(_STDIN, 4096) and self._loop is not None:
            self._loop.remove_reader(_STDIN)
            self._is_told = True
            self._end()

    def on_told(self, loop: asyncio.AbstractEventLoop, finish: Callable[[], object]) -> None:
        """What to do then, from now on; at once if it was told before."""
        self._loop, self._finish = loop, finish
        if self._is_told:
            self._end()

    def _end(self) -> None:
        assert self._finish is not None
        self._finish()
