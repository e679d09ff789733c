"""Kafka's tools in one JVM, which starts once: each is asked as its users ask it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from tests.clients.program import Lines
from tests.kafka import jars
from tests.kafka.peer import run_tool

SOURCE = Path(__file__).parent / "java" / "Tools.java"
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")
_QUIET = "log4j.rootLogger=ERROR, A\nlog4j.appender.A=org.apache.log4j.varia.NullAppender\n"
CLASSES = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-broker-api-versions": "kafka.admin.BrokerApiVersionsCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
    "kafka-verifiable-consumer": "org.apache.kafka.tools.VerifiableConsumer",
}


class Printed(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """The words of each line that has any."""
        return [line.split() for line in self.out.splitlines() if line.strip()]

    @property
    def table(self) -> list[dict[str, str]]:
        """Under the headings of its first line."""
        head, *rows = self.rows
        return [dict(zip(head, row, strict=False)) for row in rows]


class Tools:
    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        quiet = folder / "tools-log4j.properties"
        quiet.write_text(_QUIET, encoding="utf-8")
        setting = f"-Dlog4j.configuration=file:{quiet}"
        classpath = f"{_compiled()}:{jars.classpath()}"
        self._program = Lines(
            "Kafka's tools",
            ["java", *_OPTIONS, setting, "-cp", classpath, "Tools"],
            log=folder / "tools.log",
        )

    def __call__(self, tool: str, *arguments: str, fails: bool = False) -> Printed:
        """With the broker's address; it must end well, unless it is to fail."""
        where = ("--bootstrap-server", self.bootstrap)
        return self.bare(tool, *where, *arguments, fails=fails)

    def bare(self, tool: str, *arguments: str, fails: bool = False) -> Printed:
        found = Printed(**self._program.ask(CLASSES[tool], *arguments))
        assert bool(found.code) == fails, (tool, arguments, found)
        return found

    def alone(self, tool: str, *arguments: str) -> list[dict[str, str]]:
        """In a JVM of its own, for those that say the most when it ends; their lines of JSON."""
        where = ("--bootstrap-server", self.bootstrap)
        printed = run_tool(jars.classpath(), CLASSES[tool], *where, *arguments)
        return [json.loads(line) for line in printed.lines]

    def close(self) -> None:
        self._program.close()


def _compiled() -> Path:
    jars.require("javac")
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    folder = jars.cache() / f"java-tools-{digest}"
    command = ["javac", "-Xlint:all,-path", "-cp", jars.classpath(), str(SOURCE), "-d"]
    jars.once(folder, lambda made: jars.run([*command, str(made)], cwd=made))
    return folder
