"""Apache Kafka's jars, fetched once by Maven into the user's cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

VERSION = "3.9.1"
Artifact = tuple[str, str, str]  # group, name, version
_BROKER = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.slf4j", "slf4j-reload4j", "1.7.36"),
)
_FETCH_TIMEOUT_S = 900


def classpath() -> str:
    """What `java -cp` needs for the broker. Skips where Java or Maven is missing, except in CI."""
    return fetched(f"kafka-{VERSION}", _BROKER)


def client_classpath(version: str) -> str:
    """The client library alone, as its users have it."""
    quiet = "1.7.36" if version < "4" else "2.0.17"
    artifacts = (
        ("org.apache.kafka", "kafka-clients", version),
        ("org.slf4j", "slf4j-nop", quiet),
    )
    return fetched(f"kafka-clients-{version}", artifacts)


def fetched(name: str, artifacts: Sequence[Artifact]) -> str:
    """A folder of the cache with these artifacts and all that they need, as a class path."""
    folder = cache() / name
    require(*(["java"] if folder.exists() else ["java", "mvn"]))
    once(folder, lambda aside: _run_maven(aside, artifacts))
    return f"{folder}/*"


def require(*programs: str) -> None:
    """Skips the test where one is missing; in CI that is a failure."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        reason = f"this test needs {' and '.join(missing)} on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


def cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ottla"


def once(folder: Path, make: Callable[[Path], None]) -> None:
    """The folder appears by a rename when it is complete; a second process waits at the lock."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return
        with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
            made = Path(aside) / folder.name
            made.mkdir()
            make(made)
            made.rename(folder)


def _run_maven(jars: Path, artifacts: Sequence[Artifact]) -> None:
    project = jars.parent / "pom.xml"
    project.write_text(_project(artifacts), encoding="utf-8")
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
    run(["mvn", "--quiet", "--batch-mode", "--file", str(project), *goal], cwd=jars)


def run(command: Sequence[str], *, cwd: Path) -> None:
    """A build step; its output is in the failure."""
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S, cwd=cwd
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def _project(artifacts: Sequence[Artifact]) -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in artifacts
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>ottla</groupId>"
        "<artifactId>kafka-for-tests</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
