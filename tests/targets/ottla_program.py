"""`ottla broker FILE.properties --json` as a process: started, asked where it is, ended."""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

_READY_S = 30
_END_S = 30


class OttlaFailed(AssertionError):
    """The program ended or did not come up; what it printed is in the message."""


class OttlaProgram:
    """One broker on a port of its own choice; its log directory outlives it."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.log_directory = folder / "data"
        self.bootstrap = ""
        self._stderr = folder / "ottla.log"
        self._file = folder / "server.properties"
        places = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(self.log_directory)}
        lines = [f"{name}={value}\n" for name, value in ({**places, **settings}).items()]
        self._file.write_text("".join(lines), encoding="utf-8")

    def __enter__(self) -> OttlaProgram:
        with self._stderr.open("ab") as stderr:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "ottla", "broker", str(self._file), "--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        try:
            self.bootstrap = self._first_line()["bootstrap"]
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._popen.terminate()
        try:
            self._popen.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:
            raise OttlaFailed(f"did not stop in {_END_S} s:\n{self._text()}") from None
        finally:
            self.kill()

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()
        if self._popen.stdout:
            self._popen.stdout.close()

    def _first_line(self) -> dict[str, str]:
        """What it prints when it serves: {"bootstrap": "127.0.0.1:PORT", "pid": N, ...}."""
        assert self._popen.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._popen.stdout, selectors.EVENT_READ)
            if not selector.select(_READY_S):
                raise OttlaFailed(f"not ready after {_READY_S} s:\n{self._text()}")
        line = self._popen.stdout.readline()
        if not line:
            raise OttlaFailed(f"ended with {self._popen.wait()}:\n{self._text()}")
        found: dict[str, str] = json.loads(line)
        return found

    def _text(self) -> str:
        return self._stderr.read_text(encoding="utf-8", errors="replace")
