"""Ctrl-C as something to look at between two calls, while the client library is at work.

It calls back into Python, and loses an exception that is raised there; what remains is a
SystemError that nobody can make sense of. So the usual KeyboardInterrupt must not happen then.
"""

from __future__ import annotations

import select
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import BinaryIO

_LOOK_EVERY_S = 0.1


class Interruption:
    """While entered, Ctrl-C only sets `requested`; except that it ends the wait for a line.

    `also` are signals that mean the same, as SIGTERM does to what others start and stop.
    """

    def __init__(self, *also: signal.Signals) -> None:
        self.requested = False
        self._is_reading = False
        self._signals = (signal.SIGINT, *also)

    def __enter__(self) -> Interruption:
        self._previous = [(each, signal.signal(each, self._note)) for each in self._signals]
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for each, previous in self._previous:
            signal.signal(each, previous)

    def wait(self, seconds: float) -> None:
        """So long, or until Ctrl-C."""
        while seconds > 0 and not self.requested:
            select.select([], [], [], min(seconds, _LOOK_EVERY_S))
            seconds -= _LOOK_EVERY_S

    def lines(self, stream: BinaryIO) -> Iterator[bytes]:
        """Those of the stream, up to its end or to Ctrl-C."""
        while not self.requested:
            try:
                self._is_reading = True
                line = stream.readline()
                self._is_reading = False
            except KeyboardInterrupt:
                return
            if not line:
                return
            yield line

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        if self._is_reading:
            self._is_reading = False
            raise KeyboardInterrupt
