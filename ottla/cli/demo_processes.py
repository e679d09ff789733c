"""The processes of the demo: a broker, and Spark with the pipelines. They end with it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import IO, Any

_START_LIMIT_S = 30.0
_STOP_LIMIT_S = 60.0  # a batch in hand is finished


class DidNotStart(Exception):
    """The message says what it printed last."""


class Child:
    """A command of ours that prints lines of JSON."""

    def __init__(self, *command: str, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ottla", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # Ctrl-C is for the demo, which then ends it
        )
        for stream in (self._process.stdout, self._process.stderr):
            os.set_blocking(_stream(stream).fileno(), False)
        self._rest = b""
        self.words = ""  # the last line on its stderr

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def first_line(self) -> dict[str, Any]:
        while self.is_alive:
            select.select([_stream(self._process.stdout)], [], [], _START_LIMIT_S)
            for line in self.lines():
                return line
        self.lines()
        raise DidNotStart(self.words or "it ended without a word")

    def lines(self) -> Iterator[dict[str, Any]]:
        """Those that it has printed since the last look."""
        if words := _read(self._process.stderr).decode(errors="replace").strip():
            self.words = words.splitlines()[-1]
        *whole, self._rest = (self._rest + _read(self._process.stdout)).split(b"\n")
        return iter([json.loads(line) for line in whole])

    def stop(self) -> None:
        if self.is_alive:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            _stream(stream).close()


def _read(stream: IO[bytes] | None) -> bytes:
    return _stream(stream).read() or b""


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
