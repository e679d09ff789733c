"""franz-go and sarama, the clients of the Go world: built once from the module beside."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.clients.program import Lines, Program
from tests.kafka import jars

MODULE = Path(__file__).parent / "go"


def start(program: str, bootstrap: str, folder: Path) -> Program:
    return Program(program, [str(_built() / program), bootstrap], log=folder / f"go-{program}.log")


def start_members(program: str, bootstrap: str, log: Path) -> Lines:
    return Lines(program, [str(_built() / f"{program}-members"), bootstrap], log=log)


def start_transactions(program: str, bootstrap: str, log: Path) -> Lines:
    return Lines(program, [str(_built() / f"{program}-transactions"), bootstrap], log=log)


def _built() -> Path:
    """The folder of the cache with the programs, built anew when the module changes."""
    jars.require("go")
    files = sorted(path for path in MODULE.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    folder = jars.cache() / f"go-clients-{digest}"
    build = ["go", "build", "-mod=readonly", "-o"]
    jars.once(folder, lambda made: jars.run([*build, f"{made}/", "./..."], cwd=MODULE))
    return folder
