"""Spark's jars on this machine: in a folder of the user's, or in a cache that Maven fills once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ottla.pipelines import maven
from ottla.pipelines.jar_list import CONNECTOR, DELTA, Jar

__all__ = ["CONNECTOR", "DELTA", "Jar", "JarsMissing", "cache", "folder_of_jars", "have", "missing"]

VARIABLE = "OTTLA_JARS"
Progress = Callable[[int, int], None]  # how many are there, of how many


class JarsMissing(Exception):
    """One sentence: which, why, and what to do."""


def cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ottla"


def folder_of_jars(folder: str | None = None) -> Path:
    """The one that was named, by option before environment; else the cache's."""
    named = folder or os.environ.get(VARIABLE)
    return Path(named).absolute() if named else cache() / "jars"


def missing(jars: Sequence[Jar], *, folder: str | None = None) -> list[Jar]:
    """Those that would have to be fetched. JarsMissing if one is not what it should be."""
    place = folder_of_jars(folder)
    return [jar for jar in jars if not _is_there(jar, place)]


def have(
    jars: Sequence[Jar], *, folder: str | None = None, on_progress: Progress | None = None
) -> list[str]:
    """Their paths. What is not in the folder yet is fetched into it."""
    place = folder_of_jars(folder)
    lacking = missing(jars, folder=folder)
    for count, jar in enumerate(lacking, len(jars) - len(lacking)):
        if on_progress:
            on_progress(count, len(jars))
        _fetch(jar, place)
    if on_progress:
        on_progress(len(jars), len(jars))
    return [str(place / jar.file) for jar in jars]


def _is_there(jar: Jar, place: Path) -> bool:
    path = place / jar.file
    if not path.exists():
        return False
    found = _sha256(path)
    if found != jar.sha256:
        raise JarsMissing(
            f"{path} is not {jar.coordinates}: its sha256 is {found}, not {jar.sha256}; "
            "delete it and run `ottla spark jars` again"
        )
    return True


def _fetch(jar: Jar, place: Path) -> None:
    """It appears by a rename when it has been checked: two may fetch the same at once."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as aside:
            maven.copy(jar.coordinates, to=Path(aside))
            fetched = Path(aside) / jar.file
            if (found := _sha256(fetched)) != jar.sha256:
                raise maven.MavenFailed(f"what it gave has the sha256 {found}, not {jar.sha256}")
            fetched.replace(place / jar.file)
    except (maven.MavenFailed, OSError) as cause:
        raise JarsMissing(
            f"{jar.file} is not in {place} and Maven could not fetch it ({cause}): install Maven "
            f"and see that it reaches its repository, or name a folder that has it in {VARIABLE}"
        ) from cause


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
