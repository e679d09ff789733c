"""Apache Kafka's jars, fetched once by Maven into the user's cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

VERSION = "3.9.1"
_DEPENDENCIES = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.slf4j", "slf4j-reload4j", "1.7.36"),
)
_FETCH_TIMEOUT_S = 900


class KafkaMissing(Exception):
    """There is no real Kafka to be had on this machine."""


class MavenFailed(Exception):
    """Its output is in the message."""


def classpath() -> str:
    """What `java -cp` needs."""
    folder = cache() / f"kafka-{VERSION}"
    needed = ["java"] if folder.exists() else ["java", "mvn"]
    missing = [program for program in needed if shutil.which(program) is None]
    if missing:
        raise KafkaMissing(f"a real Kafka needs {' and '.join(missing)} on the PATH")
    _fetch_once(folder)
    return f"{folder}/*"


def cache() -> Path:
    """Where what is fetched or compiled once is kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ottla"


def _fetch_once(folder: Path) -> None:
    """The folder appears by a rename when it is complete; a second process waits at the lock."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return
        with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
            jars = Path(aside) / "jars"
            project = Path(aside) / "pom.xml"
            project.write_text(_project(), encoding="utf-8")
            _run_maven(project, jars)
            jars.rename(folder)


def _run_maven(project: Path, jars: Path) -> None:
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
    done = subprocess.run(
        ["mvn", "--quiet", "--batch-mode", "--file", str(project), *goal],
        check=False,
        capture_output=True,
        text=True,
        timeout=_FETCH_TIMEOUT_S,
    )
    if done.returncode:
        raise MavenFailed(f"Maven did not fetch Kafka {VERSION}:\n{done.stdout}{done.stderr}")


def _project() -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in _DEPENDENCIES
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>ottla</groupId>"
        "<artifactId>kafka-for-tests</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
