"""Each sink through a death before its commit, one after it, and a commit that Spark forgot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame

from ottla.pipelines.declaration import Noop, Pipeline
from ottla.pipelines.declare import json, pipeline, topic
from ottla.pipelines.running import delivery
from ottla.pipelines.running.run import RunFailed
from ottla.pipelines.sinks.making import make_sink
from ottla.pipelines.sinks.port import Sink
from tests.pipelines.crashes.deaths import MESSAGE, Dying
from tests.pipelines.crashes.sinks import CONTROL, NAMES, UnprotectedSink, kept
from tests.pipelines.lab import Lab
from tests.pipelines.postgres import Postgres

ROWS = 150
POISON = b"\xff"
AT_ONCE = 50  # so three batches: one for each way to die


def records(partition: int) -> list[object]:
    """The even rows in one partition, the odd ones in the other; in every batch a poisonous one."""
    rows: list[object] = [{"id": number} for number in range(partition, ROWS, 2)]
    return [POISON if place % 25 == 7 else row for place, row in enumerate(rows)]


GOOD = sorted(row["id"] for part in range(2) for row in records(part) if isinstance(row, dict))


def passing(lab: Lab, place: Any) -> Pipeline:
    source = topic(lab.topic("in"), format=json({"id": "long"}), at_once=AT_ONCE)

    @pipeline(source=source, sink=place, dead_letters=topic(lab.topic("dead")))
    def passing(events: DataFrame) -> DataFrame:
        return events

    return passing


@pytest.fixture
def control(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def made(declared: Pipeline, **parts: Any) -> Sink:
        return UnprotectedSink() if declared.sink == Noop() else make_sink(declared, **parts)

    monkeypatch.setattr(delivery, "make_sink", made)
    UnprotectedSink.rows.clear()
    yield
    UnprotectedSink.rows.clear()


def dies(lab: Lab, flow: Pipeline, *, batch: int, moment: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        dying = Dying(patch, batch=batch)
        dying.before_commit() if moment == "before" else dying.after_commit()
        with pytest.raises(RunFailed, match=MESSAGE):
            lab.run(flow)


def forget_the_last_commit(lab: Lab, flow: Pipeline) -> None:
    commits = lab.state(flow).folder_of(0, "checkpoint/commits")
    commits.delete(max(commits.names(), key=int))


@pytest.mark.usefixtures("control")
@pytest.mark.parametrize("name", [*NAMES, CONTROL])
def test_a_death_at_the_commit_neither_loses_nor_repeats_a_row(
    lab: Lab, postgres: Postgres, name: str
) -> None:
    sink = kept(
        name,
        lab.root.parent,
        spark=lab.spark,
        cluster=lab.cluster,
        topic=lab.topic("out"),
        postgres=postgres.database() if name == "postgresql" else "",
    )
    flow = passing(lab, sink.place)
    for partition in range(2):
        lab.produce(f"{lab.name}-in", records(partition), partition=partition)
    dies(lab, flow, batch=0, moment="after")
    dies(lab, flow, batch=1, moment="before")
    lab.run(flow)
    forget_the_last_commit(lab, flow)
    lab.run(flow)
    times = Counter(sink.ids())
    assert sorted(times) == GOOD, "lost"
    assert len(lab.records(f"{lab.name}-dead")) == ROWS - len(GOOD), "dead letters"
    if name == CONTROL:
        repeated = sum(count - 1 for count in times.values())
        assert repeated == len(GOOD), "each of the three must show in it, or proves nothing"
    else:
        assert max(times.values()) == 1, "repeated"
