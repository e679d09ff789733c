"""Kafka's own client, from before 0.11 to the newest: one class file, the jars of each version."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.clients.program import Lines, Program
from tests.kafka import jars

SOURCES = sorted((Path(__file__).parent / "java").glob("*.java"))
COMPILED_WITH = "3.9.1"
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


def start(version: str, bootstrap: str, folder: Path) -> Program:
    return Program(
        f"java-{version}",
        _command(version, "Client", bootstrap),
        log=folder / f"java-{version}.log",
    )


def start_members(version: str, bootstrap: str, log: Path) -> Lines:
    return Lines(f"java-{version}", _command(version, "Members", bootstrap), log=log)


def start_transactions(version: str, bootstrap: str, log: Path) -> Lines:
    return Lines(f"java-{version}", _command(version, "Transactions", bootstrap), log=log)


def _command(version: str, *arguments: str) -> list[str]:
    return ["java", *_OPTIONS, "-cp", f"{_compiled()}:{jars.client_classpath(version)}", *arguments]


def _compiled() -> Path:
    """The folder of the cache with the classes, made anew when a source changes."""
    jars.require("javac")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:12]
    folder = jars.cache() / f"java-clients-{digest}"
    classpath = jars.client_classpath(COMPILED_WITH)
    command = ["javac", "-Xlint:all", "-cp", classpath, *map(str, SOURCES), "-d"]
    jars.once(folder, lambda made: jars.run([*command, str(made)], cwd=made))
    return folder
