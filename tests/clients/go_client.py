"""franz-go, the client of the Go world: built once from the module beside."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.clients.program import Program
from tests.kafka import jars

MODULE = Path(__file__).parent / "go"


def start(bootstrap: str, folder: Path) -> Program:
    return Program(
        "franz-go",
        [str(_built() / "client"), bootstrap],
        log=folder / "franz-go.log",
    )


def _built() -> Path:
    """The folder of the cache with the program, built anew when the module changes."""
    jars.require("go")
    sources = b"".join((MODULE / name).read_bytes() for name in ("main.go", "go.mod", "go.sum"))
    folder = jars.cache() / f"go-client-{hashlib.sha256(sources).hexdigest()[:12]}"
    build = ["go", "build", "-mod=readonly", "-o"]
    jars.once(folder, lambda made: jars.run([*build, str(made / "client"), "."], cwd=MODULE))
    return folder
