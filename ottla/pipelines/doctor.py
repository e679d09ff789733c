"""What pipelines need of this machine, what was found, and one sentence for what is not right.

Works where nothing of `ottla[spark]` is installed: that is one of the things to find.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from ottla.pipelines import maven
from ottla.pipelines.jars import CONNECTOR, DELTA, Jar, JarsMissing, folder_of_jars, missing

OLDEST_JAVA = 17
LEAST_MEMORY = 2 << 30  # Spark's 1 GiB, and its Python workers
INSTALL = "run `pip install 'ottla[spark]'`"
# The version to begin with, and the one that is too new.
PACKAGES = {
    "pyspark": ((4, 2, 0), (4, 2, 1)),
    "pandas": ((2, 2), (3,)),
    "pyarrow": ((18,), (27,)),
}


class Health(StrEnum):
    GOOD = "good"
    LIMITED = "limited"  # pipelines run, but not all, or slower
    BROKEN = "broken"


class Finding(NamedTuple):
    what: str
    found: str
    health: Health
    fix: str = ""  # a sentence, unless it is good


def examine(*, folder: str | None = None) -> list[Finding]:
    """`folder` is that of the jars; nothing is fetched."""
    return [
        _java(maven.java_version()),
        *(_package(name) for name in PACKAGES),
        _jars("connector jars", CONNECTOR, folder, "topics are read by Python instead, slower"),
        _jars("Delta jars", DELTA, folder, "Delta tables cannot be written"),
        _memory(memory()),
    ]


def _java(found: int | None) -> Finding:
    if found is None:
        fix = f"Spark needs Java: install {OLDEST_JAVA} or newer (apt install openjdk-17-jre)."
        return Finding("Java", "none in JAVA_HOME or on the PATH", Health.BROKEN, fix)
    if found < OLDEST_JAVA:
        fix = f"Spark needs Java {OLDEST_JAVA} or newer: install one and name it in JAVA_HOME."
        return Finding("Java", str(found), Health.BROKEN, fix)
    return Finding("Java", str(found), Health.GOOD)


def _package(name: str) -> Finding:
    oldest, too_new = PACKAGES[name]
    try:
        found = version(name)
    except PackageNotFoundError:
        fix = f"Pipelines need {name}: {INSTALL}."
        return Finding(name, "not installed", Health.BROKEN, fix)
    if oldest <= numbers(found) < too_new:
        return Finding(name, found, Health.GOOD)
    bounds = f"{_dotted(oldest)} or newer, but older than {_dotted(too_new)}"
    return Finding(name, found, Health.BROKEN, f"Pipelines need {name} {bounds}: {INSTALL}.")


def numbers(version: str) -> tuple[int, ...]:
    """Of what it begins with: 4.2.0.dev1 is 4, 2, 0."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _dotted(version: Sequence[int]) -> str:
    return ".".join(str(number) for number in version)


def _jars(what: str, jars: Sequence[Jar], folder: str | None, without: str) -> Finding:
    place = str(folder_of_jars(folder))
    try:
        lacking = missing(jars, folder=folder)
    except JarsMissing as cause:
        return Finding(what, place, Health.BROKEN, f"{cause}.")
    if not lacking:
        return Finding(what, place, Health.GOOD)
    found = f"{len(jars) - len(lacking)} of {len(jars)} in {place}"
    fix = f"Run `ottla spark jars`, which fetches them with Maven; without them {without}."
    return Finding(what, found, Health.LIMITED, fix)


def _memory(found: int) -> Finding:
    told = f"{found / (1 << 30):.1f} GiB"
    if found >= LEAST_MEMORY:
        return Finding("memory", told, Health.GOOD)
    fix = "Spark and its workers want 2 GiB: end other programs, or give it less with --memory."
    return Finding("memory", told, Health.LIMITED, fix)


def memory(root: Path = Path("/")) -> int:
    """Bytes that a new program could use; all that there are, where nobody says."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    if told := re.search(r"MemAvailable:\s*(\d+) kB", _text(root / "proc/meminfo")):
        limits.append(int(told[1]) << 10)
    if (container := _text(root / "sys/fs/cgroup/memory.max").strip()).isdigit():
        limits.append(int(container))
    return min(limits)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
