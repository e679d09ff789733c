"""Functions that shuffle: Spark reads for them before it hands the batch over, and all counts."""

from __future__ import annotations

from pyspark.sql import DataFrame

from ottla.pipelines.declare import json, noop, pipeline, topic, unique
from tests.pipelines.lab import Lab


def test_what_is_read_before_a_shuffle_is_counted_and_its_dead_letters_are_sent(lab: Lab) -> None:
    @pipeline(
        source=topic(lab.topic("in"), format=json({"id": "long"}), at_once=20),
        sink=noop(),
        dead_letters=topic(lab.topic("dlq")),
        contract=[unique("id")],
    )
    def shuffled(events: DataFrame) -> DataFrame:
        return events.repartition(3)

    lab.produce(f"{lab.name}-in", [b"poison", *({"id": n // 2} for n in range(40))], partition=0)
    status = lab.run(shuffled)
    assert len(lab.batches) > 1
    assert (status.rows_in, status.dead_letters) == (41, len(lab.records(f"{lab.name}-dlq")))
    assert status.rows_in == status.rows_out + status.dead_letters
