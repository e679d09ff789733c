"""On real executors, in processes of their own: they have our package, and one may be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ottla import __version__
from tests.pipelines.cluster_program import EVERY_POISONED, RECORDS

ROOT = Path(__file__).parents[2]
LIMIT_S = 300


@pytest.fixture(scope="module")
def found(spark_jars: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the program told. It has a session of its own: the shared one is not disturbed."""
    done = subprocess.run(
        [sys.executable, "-c", "from tests.pipelines.cluster_program import main; main()"],
        cwd=tmp_path_factory.mktemp("cluster"),  # the executors work there
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_executors_have_the_package_of_the_driver(found: Any) -> None:
    packages = {row["package"] for row in found["seen"]}
    assert packages == {f"./ottla-{__version__}.zip/ottla/pipelines/declaration.py"}
    assert len({row["executor"] for row in found["seen"]}) == 2


def test_an_executor_killed_in_the_middle_of_a_batch_costs_nothing(found: Any) -> None:
    poisoned = RECORDS // EVERY_POISONED
    good = [n for n in range(RECORDS) if n % EVERY_POISONED]
    assert found["died"]
    assert found["ids"] == good
    assert found["dead_letters"] == poisoned
    assert found["counted"] == [RECORDS, len(good), poisoned]


def test_whose_java_is_killed_is_told_so(found: Any) -> None:
    assert found["told"].startswith("lost: Spark's process of Java ended, most likely for want of")
    assert found["state"] == "failed"
