"""Ctrl-C as something to look at between two calls, while the client library is at work.

It calls back into Python, and loses an exception that is raised there; what remains is a
SystemError that nobody can make sense of. So the usual KeyboardInterrupt must not happen then.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import BinaryIO


class Interruption:
    """While entered, Ctrl-C only sets `requested`; except that it ends the wait for a line."""

    def __init__(self) -> None:
        self.requested = False
        self._is_reading = False

    def __enter__(self) -> Interruption:
        self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._previous)

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
