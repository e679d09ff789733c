"""A real process on a real disk, killed while it writes: what it reported is there."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from ottla.storage.disk import RealDisk
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.integration.writer import CONFIG, PRODUCER_ID, REPORT_BYTES, value_of
from tests.simulation.seeds import repetitions
from tests.unit.storage.logs import contents

ROOT = Path(__file__).parents[2]


def write_and_kill(folder: Path, *, reports: int) -> int:
    """Kills the writer after so many reports; returns the last offset that it reported."""
    command = [sys.executable, "-m", "tests.integration.writer", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as writer:
        assert writer.stdout is not None
        read = writer.stdout.read(REPORT_BYTES * reports)
        writer.kill()
        # What was in the pipe when it died was reported, too.
        read += writer.stdout.read()
    whole = len(read) - len(read) % REPORT_BYTES
    return int.from_bytes(read[whole - REPORT_BYTES : whole], "big")


def check_contents(log: Log, *, at_least: int) -> None:
    """Every record that was reported, perhaps some more, and each what it should be."""
    found = contents(log)
    assert len(found) >= at_least
    assert found == [(offset, value_of(offset)) for offset in range(len(found))]
    state = log.producers.get(PRODUCER_ID)
    assert state is not None
    assert state.last_sequence == len(found) - 1


def test_nothing_that_was_reported_is_lost_by_kill_9(tmp_path: Path) -> None:
    chance = random.Random(9)
    folder = tmp_path / "orders-0"
    for _ in range(repetitions(5, soak=50)):
        reported = write_and_kill(folder, reports=chance.randint(1, 200))
        log = open_log(RealDisk(), str(folder), CONFIG, Found(was_clean=False), now_ms=0)
        check_contents(log, at_least=reported)
        if len(log.segments) > 20:
            folder = tmp_path / f"orders-{reported}"
