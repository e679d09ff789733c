"""A broker in a process of its own, to be stopped, killed and looked at from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 60.0
_REPORT = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z (?:WARNING|ERROR|CRITICAL) (.*)$", re.MULTILINE)


class BrokerProcess:
    """One data folder and whichever broker runs on it. `settings` are options of the broker.

    `files` is how many it may have open, unless it asks for more.
    """

    def __init__(
        self, folder: Path, *, settings: dict[str, str] | None = None, files: int | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.data = folder / "data"
        self.properties = folder / "server.properties"
        self.log_file = folder / "broker.log"
        self.facts: dict[str, Any] = {}
        self._shell = ["sh", "-c", 'ulimit -Sn "$0" && exec "$@"', str(files)] if files else []
        self._process: subprocess.Popen[bytes] | None = None
        options = {
            "broker.id": "0",
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": str(self.data),
            "offsets.topic.replication.factor": "1",
            "log.retention.ms": "-1",  # the records of these tests are from 2023
            **(settings or {}),
        }
        lines = [f"{key}={value}\n" for key, value in options.items()]
        self.properties.write_text("".join(lines))

    def __enter__(self) -> BrokerProcess:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self.kill()

    def launch(self) -> subprocess.Popen[bytes]:
        """Begin a start, and do not wait for it."""
        command = [sys.executable, "-m", "ottla", "broker", str(self.properties), "--json"]
        command = [*self._shell, *command]
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL
            )
        return self._process

    def start(self) -> None:
        process = self.launch()
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the broker did not start:\n{self.log()}"
        self.facts = json.loads(line)

    def keep_port(self) -> None:
        """Clients will find it at the same address after a restart."""
        text = self.properties.read_text()
        self.properties.write_text(text.replace("127.0.0.1:0\n", f"{self.bootstrap}\n"))

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def bootstrap(self) -> str:
        return str(self.facts["bootstrap"])

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.bootstrap.rpartition(":")
        return host, int(port)

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def terminate(self) -> int:
        """The exit code of a stop that was asked for."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        process, self._process = self._process, None
        assert process is not None
        assert process.stdout is not None
        process.stdout.close()
        return process.wait(_PATIENCE_S)

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def reports(self) -> list[str]:
        """Lines of the log that an operator should look at: each its logger and text."""
        return _REPORT.findall(self.log())

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.facts['http']}{path}", timeout=_PATIENCE_S) as answer:
            return json.loads(answer.read())

    def memory_mb(self) -> float:
        """What it holds in memory now, shared files of its program included."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) / 1024

    def descriptors(self) -> list[str]:
        """What its open descriptors lead to: files by name, the rest by kind."""
        found = []
        for each in Path(f"/proc/{self.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed while we look
                found.append(os.readlink(each).partition(":[")[0])
        return sorted(found)

    def connections(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/debug/connections")["connections"]
        return found

    def parked(self) -> int:
        purgatories = self.get("/debug/timers")["purgatories"]
        return sum(int(each["delayed"]) for each in purgatories)

    def expect_no_bug(self) -> None:
        """It lives, and none of its own mistakes came to light."""
        log = self.log()
        assert "Traceback" not in log, log[-6000:]
        assert self.is_alive


def until(holds: Callable[[], bool], *, what: str, within_s: float = _PATIENCE_S) -> None:
    """Wait for a condition. Each look at it should cost a little, as asking the broker does."""
    ends = time.perf_counter() + within_s
    while not holds():
        assert time.perf_counter() < ends, f"not within {within_s} s: {what}"
