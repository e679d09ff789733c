"""The brokers that are measured: each is started on a folder, says where it is, and is stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from benchmarks.beside.admin import answers
from tests.kafka import jars

_POLL_S = 0.005
_DEADLINE_S = 120
# What kafka-server-start.sh would pass: its heap, its collector.
_KAFKA_JAVA = (
    "-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
)  # fmt: skip
# What would change how a program starts: it is measured as it starts where it is installed, where
# Python has its modules compiled.
_NOT_PASSED_ON = ("JAVA_TOOL_OPTIONS", "PYTHONDONTWRITEBYTECODE")
_LOG4J = """\
log4j.rootLogger=WARN, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.SimpleLayout
"""


@dataclass(frozen=True, slots=True)
class Running:
    bootstrap: str
    pids: tuple[int, ...]
    start_s: float  # from the start of the process to its first answer
    metrics_url: str | None = None


class Target(Protocol):
    @property
    def name(self) -> str: ...
    def start(self, folder: Path) -> Running: ...
    def stop(self) -> None: ...


class Process:
    """One program, its output in a file."""

    def __init__(self, command: Sequence[str], output: Path) -> None:
        self._output = output
        environment = {k: v for k, v in os.environ.items() if k not in _NOT_PASSED_ON}
        self.started_at = time.perf_counter()
        with output.open("wb") as file:
            self._popen = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment
            )
        self.pid = self._popen.pid

    def wait_until(self, condition: Callable[[], bool]) -> float:
        """Seconds since its start."""
        while not condition():
            took = time.perf_counter() - self.started_at
            if self._popen.poll() is not None or took > _DEADLINE_S:
                self.stop()
                raise RuntimeError(f"not ready after {took:.1f} s:\n{self.text()}")
            _pause(self._popen)
        return time.perf_counter() - self.started_at

    def stop(self) -> None:
        self._popen.send_signal(signal.SIGTERM)
        try:
            self._popen.wait(timeout=_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def text(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")


class Kafka:
    """One broker of Apache Kafka with its ZooKeeper, which is not counted as part of it."""

    name = "Kafka"

    def __init__(self, classpath: str) -> None:
        self._classpath = classpath
        self._processes: list[Process] = []

    def start(self, folder: Path) -> Running:
        port, zookeeper_port = _free_ports(2)
        self._start_zookeeper(folder, zookeeper_port)
        settings = broker_settings(folder, port) | {
            "zookeeper.connect": f"127.0.0.1:{zookeeper_port}"
        }
        file = _write_properties(folder / "kafka.properties", settings)
        broker = self._java(folder, _KAFKA_JAVA, "kafka.Kafka", file)
        start_s = broker.wait_until(lambda: answers(("127.0.0.1", port)))
        return Running(f"127.0.0.1:{port}", (broker.pid,), start_s)

    def stop(self) -> None:
        while self._processes:
            self._processes.pop().stop()

    def _start_zookeeper(self, folder: Path, port: int) -> None:
        settings = {
            "dataDir": str(folder / "zookeeper"),
            "clientPort": str(port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
        }
        file = _write_properties(folder / "zookeeper.properties", settings)
        main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        zookeeper = self._java(folder, ("-Xmx512m",), main_class, file)
        zookeeper.wait_until(lambda: _is_listening(port))

    def _java(self, folder: Path, options: Sequence[str], main_class: str, file: str) -> Process:
        log4j = folder / "log4j.properties"
        log4j.write_text(_LOG4J, encoding="utf-8")
        command = ["java", *options, f"-Dlog4j.configuration=file:{log4j}", "-cp", self._classpath]
        process = Process([*command, main_class, file], folder / f"{main_class}.log")
        self._processes.append(process)
        return process


class Ottla:
    """`ottla broker FILE --json`, which prints one line when it is ready."""

    name = "Ottla"

    def __init__(self, command: Sequence[str] = (sys.executable, "-m", "ottla")) -> None:
        self._command = command
        self._process: Process | None = None

    def is_there(self) -> bool:
        asked = [*self._command, "broker", "--help"]
        return subprocess.run(asked, check=False, capture_output=True).returncode == 0

    def start(self, folder: Path) -> Running:
        (port,) = _free_ports(1)
        file = _write_properties(folder / "ottla.properties", broker_settings(folder, port))
        command = [*self._command, "broker", file, "--json"]
        self._process = process = Process(command, folder / "ottla.log")
        start_s = process.wait_until(lambda: answers(("127.0.0.1", port)))
        process.wait_until(lambda: _ready_line(process.text()) is not None)
        ready = _ready_line(process.text()) or {}
        pids = (int(str(ready["pid"])),)
        return Running(str(ready["bootstrap"]), pids, start_s, f"{ready['http']}/metrics")

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None


def available(wanted: Sequence[str]) -> list[Target]:
    """Those of the wanted that this machine and this release have."""
    found: list[Target] = []
    if "kafka" in wanted:
        try:
            found.append(Kafka(jars.classpath()))
        except pytest.skip.Exception as missing:
            print(f"{missing}: Kafka is left out")
    if "ottla" in wanted:
        ottla = Ottla()
        if ottla.is_there():
            found.append(ottla)
        else:
            print("`ottla broker` does not run: Ottla is left out")
    return found


def broker_settings(folder: Path, port: int) -> dict[str, str]:
    """As they come, but for one broker alone, and so that deleted topics free the disk soon."""
    return {
        "broker.id": "0",
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(folder / "data"),
        "log.retention.ms": "-1",
        "log.segment.delete.delay.ms": "200",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
    }


def _ready_line(text: str) -> Mapping[str, object] | None:
    for line in text.splitlines(keepends=True):
        if line.startswith("{") and line.endswith("}\n"):
            found = json.loads(line)
            return found if isinstance(found, dict) and "bootstrap" in found else None
    return None


def _write_properties(path: Path, settings: Mapping[str, str]) -> str:
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def _pause(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=_POLL_S)
    except subprocess.TimeoutExpired:
        return


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
