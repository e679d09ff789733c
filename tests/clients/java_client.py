"""Kafka's own client, from before 0.11 to the newest: one class file, the jars of each version."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.clients.program import Program
from tests.kafka import jars

SOURCE = Path(__file__).parent / "java" / "Client.java"
COMPILED_WITH = "3.9.1"
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


def start(version: str, bootstrap: str, folder: Path) -> Program:
    classpath = f"{_compiled()}:{jars.client_classpath(version)}"
    return Program(
        f"java-{version}",
        ["java", *_OPTIONS, "-cp", classpath, "Client", bootstrap],
        log=folder / f"java-{version}.log",
    )


def _compiled() -> Path:
    """The folder of the cache with the class, made anew when the source changes."""
    jars.require("javac")
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    folder = jars.cache() / f"java-client-{digest}"
    classpath = jars.client_classpath(COMPILED_WITH)
    command = ["javac", "-Xlint:all", "-cp", classpath, str(SOURCE), "-d"]
    jars.once(folder, lambda made: jars.run([*command, str(made)], cwd=made))
    return folder
