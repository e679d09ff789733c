"""A state that is not on this machine: every command reaches it as Hadoop does."""

from __future__ import annotations

import json as text
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from ottla.cli.pipeline import pipeline as commands
from tests.pipelines.lab import Lab
from tests.pipelines.test_run import ids, odd_ones, visits

_LINK = "fs.viewfs.mounttable.lab.link./state"


@pytest.fixture
def elsewhere(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Hadoop's own view of file systems: another scheme, behind which lies a folder of ours."""
    (tmp_path / "elsewhere").mkdir()
    context: Any = spark.sparkContext
    settings = context._jsc.hadoopConfiguration()
    settings.set(_LINK, (tmp_path / "elsewhere").as_uri())
    yield "viewfs://lab/state"
    settings.unset(_LINK)


def told(*arguments: str) -> str:
    done = CliRunner().invoke(commands, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_is_run_seen_audited_stopped_and_reset(lab: Lab, elsewhere: str) -> None:
    lab = replace(lab, elsewhere=elsewhere)
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(100)))
    lab.run(odd)
    lab.produce(f"{lab.name}-in", visits(range(100, 200)))
    lab.run(odd)
    assert ids(lab) == [n for n in range(200) if n % 2]
    (seen,) = text.loads(told("status", "--json", "--state", elsewhere))
    assert (seen["pipeline"], seen["state"], seen["lag"]) == ("odd", "finished", 0)
    audited = text.loads(told("audit", "odd", "--json", "--state", elsewhere))
    assert (audited["holds"], audited["in"]) == (True, 200)
    told("stop", "odd", "--state", elsewhere)
    assert lab.state(odd).stop_asked_ms() is not None
    lab.run(odd, resume=True)
    assert "generation 1" in told("reset", "odd", "--yes", "--state", elsewhere)
    assert not lab.root.exists(), "nothing is kept here"
