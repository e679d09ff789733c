"""On a cluster of Spark's own, a master and a worker, by the same command as on one machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from ottla.pipelines.topic_records import read_records
from ottla.testing.spark import SHORT_LIVED
from tests.clients.client import comes_true
from tests.pipelines.lab import Lab

HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"
LIMIT_S = 120
ENVIRONMENT = {
    **os.environ,
    "SPARK_HOME": str(HOME),
    "SPARK_LOCAL_IP": HOST,
    "PYSPARK_PYTHON": sys.executable,
    "JDK_JAVA_OPTIONS": SHORT_LIVED,
}
FLOW = """
from ottla.pipelines.declare import json, pipeline, topic

@pipeline(source=topic("{0}-in", format=json({{"id": "long"}})),
          sink=topic("{0}-out", format=json()))
def flow(events):
    return events.where("id % 2 = 0")
"""


@contextmanager
def started(role: str, *words: str, folder: Path, is_up: str) -> Iterator[re.Match[str]]:
    """A part of the cluster, once it has said that it is up."""
    name = f"org.apache.spark.deploy.{role.lower()}.{role}"
    command = [str(HOME / "bin" / "spark-class"), name, "--host", HOST, "--webui-port", "0", *words]
    log = folder / f"{role}.log"

    def found() -> re.Match[str] | None:
        return re.search(is_up, log.read_text())

    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=ENVIRONMENT, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            comes_true(lambda: process.poll() is not None or found() is not None)
            up = found()
            assert up is not None, log.read_text()
            yield up
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def master(spark_jars: list[str], tmp_path: Path) -> Iterator[str]:
    up = r"Starting Spark master at (spark://\S+)"
    with started("Master", "--port", "0", folder=tmp_path, is_up=up) as found:
        words = ("--cores", "2", "--memory", "1g", "-d", str(tmp_path / "work"), found[1])
        with started("Worker", *words, folder=tmp_path, is_up="Successfully registered"):
            yield found[1]


def test_a_pipeline_runs_on_a_master_and_its_worker(lab: Lab, master: str, tmp_path: Path) -> None:
    lab.produce(lab.topic("in"), [{"id": number} for number in range(100)])
    places = [(lab.topic("out", partitions=1), 0)]
    (tmp_path / "flow.py").write_text(FLOW.format(lab.name))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ottla", "pipeline", "run", "flow.py", "--once"),
            *("--master", master, "-b", lab.cluster.bootstrap),
            *("--conf", f"spark.driver.host={HOST}", "--conf", "spark.executor.memory=512m"),
        ],
        cwd=tmp_path,
        env=ENVIRONMENT,
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Asked to launch executor" in (tmp_path / "Worker.log").read_text()
    ends = lab.cluster.stable_ends(places)
    records = read_records(lab.cluster, {place: (0, end) for place, end in ends.items()})
    ids = [json.loads(record.value or b"")["id"] for record in records]
    assert sorted(ids) == list(range(0, 100, 2))
