"""Compiles the C drivers on first use, runs them, reads the one line of JSON they print."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from tests.kafka.jars import cache

Outcome = dict[str, float]

_SOURCES = Path(__file__).parent
_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra")
_TIMEOUT_S = 120


class DriverFailed(Exception):
    """What the driver said before it gave up, or why there is none."""


def drive(program: str, mode: str, options: Mapping[str, object]) -> Outcome:
    """Runs `client` or `raw`; what the modes and options are stands at the head of each."""
    words = [f"{name}={value}" for name, value in options.items()]
    done = _run([str(compiled(program)), mode, *words])
    return cast(Outcome, json.loads(done))


@contextmanager
def echoing(answer_bytes: int) -> Iterator[int]:
    """The port of a bare server in C, for as long as the block lasts."""
    command = [str(compiled("echo")), "serve", f"answer={answer_bytes}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline())
        finally:
            server.kill()


def compiled(program: str) -> Path:
    """The program in the user's cache; another source or library makes another program."""
    libraries = [str(librdkafka())] if program == "client" else []
    sources = [_SOURCES / f"{program}.c", *sorted(_SOURCES.glob("*.h"))]
    digest = hashlib.sha256("".join(libraries).encode())
    for source in sources:
        digest.update(source.read_bytes())
    path = cache() / "drivers" / f"{program}-{digest.hexdigest()[:16]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            _compile(sources[0], libraries, path)
    return path


def _compile(source: Path, libraries: list[str], path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        raise DriverFailed("the drivers are compiled on first use: that needs cc on the PATH")
    places = [f"-Wl,-rpath,{Path(each).parent}" for each in libraries]
    aside = path.with_suffix(".new")
    _run([compiler, *_FLAGS, str(source), *libraries, *places, "-lpthread", "-o", str(aside)])
    os.replace(aside, path)


def librdkafka() -> Path:
    """The library in the wheel of confluent-kafka, which is installed with the other tools."""
    try:
        files = importlib.metadata.files("confluent-kafka") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name.startswith("librdkafka") and ".so" in file.name:
            return Path(str(file.locate())).resolve()
    raise DriverFailed("no librdkafka: `make setup` installs it with confluent-kafka's wheel")


def _run(command: list[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_TIMEOUT_S)
    if done.returncode:
        raise DriverFailed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout
