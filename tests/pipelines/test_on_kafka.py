"""The same pipelines on Apache Kafka: with the connector, and without a jar."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ottla.pipelines.kafka import Cluster
from tests.kafka.peer import KafkaPeer
from tests.pipelines.lab import Lab
from tests.pipelines.test_run import ids, odd_ones, visits


@pytest.mark.parametrize("connector", [True, False], ids=["connector", "jarless"])
def test_every_record_is_written_once_dropped_or_a_dead_letter(
    spark: SparkSession, kafka391: KafkaPeer, tmp_path: Path, connector: bool
) -> None:
    lab = Lab(spark, Cluster(kafka391.bootstrap), tmp_path, f"odd-{connector}", connector)
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(400)))
    lab.run(odd)
    commits = lab.state(odd).folder_of(0, "checkpoint/commits")
    commits.delete(max(commits.names(), key=int))
    lab.produce(f"{lab.name}-in", visits(range(400, 500)))
    status = lab.run(odd)
    assert ids(lab) == [n for n in range(500) if n % 2]
    assert len(lab.records(f"{lab.name}-dlq")) == 5
    done = lab.cluster.committed(odd.group)
    assert {place: at.offset for place, at in done.items()} == lab.cluster.ends(done)
    assert status.guarantee == "exactly once"
