"""The pipelines' door to other programs: Maven, which fetches jars, and Java, asked for its age."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

_FETCH_LIMIT_S = 300
_ANSWER_LIMIT_S = 30
_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')
_ERROR = re.compile(r"^\[ERROR\]\s*(.+)$", re.MULTILINE)


class MavenFailed(Exception):
    """There is none, or it could not; the message is what it said, in one line."""


def copy(coordinates: str, *, to: Path) -> None:
    """One artifact without what it depends on, from wherever this machine's Maven gets them."""
    maven = shutil.which("mvn")
    if maven is None:
        raise MavenFailed("there is no `mvn` on the PATH")
    goal = ["dependency:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={to}"]
    # It remembers what it could not find; `--update-snapshots` makes it look again. It runs where
    # the jar goes, or it would take a pom.xml of the user's folder for its project.
    command = [maven, "--batch-mode", "--quiet", "--update-snapshots", *goal]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_FETCH_LIMIT_S, cwd=to
        )
    except subprocess.TimeoutExpired as cause:
        raise MavenFailed(f"it took longer than {_FETCH_LIMIT_S} s") from cause
    if done.returncode:
        said = _ERROR.search(done.stdout + done.stderr)
        raise MavenFailed(said[1] if said else f"it ended with {done.returncode}")


def java_version() -> int | None:
    """17 for Java 17; None where there is none, or none that says its version."""
    home = os.environ.get("JAVA_HOME")  # where Spark looks first
    java = shutil.which(f"{home}/bin/java" if home else "java")
    if java is None:
        return None
    try:
        done = subprocess.run(
            [java, "-version"],
            check=False,
            capture_output=True,
            text=True,
            timeout=_ANSWER_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = _JAVA_VERSION.search(done.stderr + done.stdout)
    return int(said[1]) if said else None
