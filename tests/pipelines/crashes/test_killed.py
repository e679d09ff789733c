"""Sinks in a process that is killed, again and again, while it writes to them.

All of them together, in one process; a soak gives each a process of its own as well.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.pipelines.crashes.program import World, run_all
from tests.pipelines.crashes.sinks import NAMES
from tests.pipelines.lab import Lab
from tests.pipelines.postgres import Postgres

SOAKS = os.environ.get("OTTLA_TEST_PROFILE") == "soak"
KILLS = 5 if SOAKS else 1
BATCHES = 30 if SOAKS else 3
AT_ONCE = 200
ROWS = BATCHES * AT_ONCE
TOGETHER = [NAMES, *([name] for name in NAMES)] if SOAKS else [NAMES]
_LATEST_S = 0.5  # about as long as a batch takes


def killed_after(world: World, batches: int, chance: random.Random) -> None:
    """A process runs them, and is killed somewhere after so many batches."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.pipelines.crashes.program", world.to_json()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[3],
        start_new_session=True,  # Java and its workers with it
    )
    assert process.stdout is not None
    with process, process.stdout:
        done = sum(1 for _ in islice(process.stdout, batches))
        assert done == batches, "it ended before it was to be killed"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0, _LATEST_S))
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("names", TOGETHER, ids="-".join)
def test_killed_while_it_writes_no_sink_loses_or_repeats_a_row(
    lab: Lab, postgres: Postgres, tmp_path: Path, names: list[str]
) -> None:
    world = World(
        bootstrap=lab.cluster.bootstrap,
        folder=str(tmp_path),
        source=lab.topic("in"),
        out=lab.topic("out"),
        postgres=postgres.database(),
        names=names,
        at_once=AT_ONCE,
    )
    lab.produce(world.source, [{"id": number} for number in range(ROWS)])
    chance = random.Random(0)
    most = len(names) * BATCHES // (KILLS + 1)
    for _ in range(KILLS):
        killed_after(world, chance.randint(len(names), most), chance)
    run_all(world, lab.spark)
    for name in names:
        times = Counter(world.kept(name, lab.spark).ids())
        assert sorted(times) == list(range(ROWS)), f"{name} lost rows"
        assert max(times.values()) == 1, f"{name} repeated rows"
