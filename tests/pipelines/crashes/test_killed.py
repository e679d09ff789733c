"""All sinks at once in a process that is killed, again and again, while it writes to them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.pipelines.crashes.program import World
from tests.pipelines.crashes.sinks import NAMES
from tests.pipelines.lab import Lab
from tests.pipelines.postgres import Postgres

SOAKS = os.environ.get("OTTLA_TEST_PROFILE") == "soak"
KILLS = 5 if SOAKS else 1
BATCHES = 30 if SOAKS else 3
AT_ONCE = 200
ROWS = BATCHES * AT_ONCE


def lines_until(world: World, wanted: int | None) -> list[str]:
    """Of a process that is killed after so many batches; None: that runs to its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.pipelines.crashes.program", world.to_json()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[3],
        start_new_session=True,  # Java and its workers with it
    )
    assert process.stdout is not None
    told = []
    with process, process.stdout:
        for line in process.stdout:
            told.append(line.strip())
            if len(told) == wanted:
                break
        os.killpg(process.pid, signal.SIGKILL)
    return told


def test_killed_while_it_writes_no_sink_loses_or_repeats_a_row(
    lab: Lab, postgres: Postgres, tmp_path: Path
) -> None:
    world = World(
        bootstrap=lab.cluster.bootstrap,
        folder=str(tmp_path),
        source=lab.topic("in"),
        out=lab.topic("out"),
        postgres=postgres.database(),
        names=NAMES,
        at_once=AT_ONCE,
    )
    lab.produce(world.source, [{"id": number} for number in range(ROWS)])
    chance = random.Random(0)
    most = len(NAMES) * BATCHES // (KILLS + 1)
    for _ in range(KILLS):
        lines_until(world, chance.randint(len(NAMES), most))
    assert lines_until(world, None)[-1] == "done"
    for name in NAMES:
        times = Counter(world.kept(name, lab.spark).ids())
        assert sorted(times) == list(range(ROWS)), f"{name} lost rows"
        assert max(times.values()) == 1, f"{name} repeated rows"
