"""A broker for tests: a real one, in a process of its own, that keeps nothing.

    with Broker() as broker:
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap)

It ends with the block, and with this process, however that ends.
"""

from __future__ import annotations

import asyncio
import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import IO

from ottla.testing.faults import Faults, post
from ottla.testing.topics import create_topic, delete_topic

_COMMAND = ("-m", "ottla", "up", "--ephemeral", "--port", "0", "--json", "--testing")
_START_LIMIT_S = 30.0
_STOP_LIMIT_S = 10.0
_LOG_TAIL_LINES = 20


class BrokerFailed(Exception):
    """It did not start; the end of its log says why."""


class Broker:
    """Use it with `with` or `async with`, or call `start` and `stop`."""

    def __init__(
        self, settings: Mapping[str, object] | None = None, *, start_limit_s: float = _START_LIMIT_S
    ) -> None:
        self.bootstrap = ""  # host:port, once it has started
        self.http = ""
        self._settings = {key: _text(value) for key, value in (settings or {}).items()}
        self._start_limit_s = start_limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Broker:
        assert self._process is None, "it has started already"
        # A file, for nobody reads a pipe while the tests run, and a full one would stop it.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        settings = [f"--set={key}={value}" for key, value in self._settings.items()]
        self._process = subprocess.Popen(
            [sys.executable, *_COMMAND, "--until-stdin-closes", *settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for the tests, which then end it
        )
        facts = self._read_facts(self._process)
        self.bootstrap, self.http, self.pid = facts["bootstrap"], facts["http"], facts["pid"]
        self.faults = Faults(self.http)
        self._is_skewed = False
        return self

    def _read_facts(self, process: subprocess.Popen[bytes]) -> dict[str, str]:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], self._start_limit_s)
        line = process.stdout.readline() if ready else b""
        if not line:
            why = "ended" if ready else f"was not ready within {self._start_limit_s} s"
            process.kill()
            log = self._log_tail()
            self.stop()
            raise BrokerFailed(f"the broker {why}; the end of its log:\n{log}")
        facts: dict[str, str] = json.loads(line)
        return facts

    def _log_tail(self) -> str:
        assert self._process is not None
        self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-_LOG_TAIL_LINES:]) or "(empty)"

    def stop(self) -> None:
        """Harmless if it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        _close(process.stdin)
        try:
            process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close(process.stdout)
        self._log.close()

    def create_topic(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, object] | None = None
    ) -> str:
        """The name again. KafkaError if the broker refuses it."""
        texts = {key: _text(value) for key, value in (configs or {}).items()}
        create_topic(self.bootstrap, name, partitions=partitions, configs=texts)
        return name

    def delete_topic(self, name: str) -> None:
        """Does not wait until its files are gone."""
        delete_topic(self.bootstrap, name)

    def skew_clock(self, ms: int) -> None:
        """Its wall clock, for timestamps and retention, goes this much before ours."""
        post(self.http, "/testing/clock", skew_ms=ms)
        self._is_skewed = ms != 0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def calm(self) -> None:
        """No faults, no skew: as it was at first."""
        if not self.is_running:
            return
        if self.faults.are_set:
            self.faults.clear()
        if self._is_skewed:
            self.skew_clock(0)

    def __enter__(self) -> Broker:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Broker:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)


def _text(value: object) -> str:
    """As in a properties file."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        pipe.close()
