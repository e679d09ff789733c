"""A process killed while it writes to the embedded store: what was acknowledged is there."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

from ottla.store.embedded import EmbeddedStore, EmbeddedTree
from tests.integration.store_writer import WRITERS
from tests.simulation.seeds import repetitions

ROOT = Path(__file__).parents[2]


def write_and_kill(path: Path, *, lines: int) -> dict[str, int]:
    """Kills the writer after so many lines; returns the last number acknowledged by parent."""
    command = [sys.executable, "-m", "tests.integration.store_writer", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as writer:
        assert writer.stdout is not None
        read = b"".join(writer.stdout.readline() for _ in range(lines))
        writer.kill()
        # What was in the pipe when it died was acknowledged, too.
        read += writer.stdout.read()
    whole = read[: read.rfind(b"\n")].decode().split("\n")
    return {parent: int(number) for number, parent in (line.split() for line in whole)}


async def check(path: Path, acknowledged: dict[str, int]) -> None:
    tree = EmbeddedTree(str(path))
    store = EmbeddedStore(tree)
    assert await store.read("/alive") is None
    for parent in [f"/writer-{number}" for number in range(WRITERS)]:
        entry = await store.read(parent)
        number = int(entry.data) if entry is not None else 0
        assert number >= acknowledged.get(parent, 0)
        if number:
            names = await store.children(parent)
            assert names == [f"n{index:010}" for index in range(number)]
            newest = await store.read(f"{parent}/{names[-1]}")
            assert newest is not None
            assert int(newest.data) == number
    await tree.close()


def test_nothing_that_was_acknowledged_is_lost_by_kill_9(tmp_path: Path) -> None:
    chance = random.Random(10)
    path = tmp_path / "metadata.db"
    acknowledged: dict[str, int] = {}
    for _ in range(repetitions(10, soak=100)):
        acknowledged |= write_and_kill(path, lines=chance.randint(1, 300))
        asyncio.run(check(path, acknowledged))
