"""Writers change their schema while a pipeline runs: what fits goes on, what breaks stops it."""

from __future__ import annotations

import io
import json as text
from collections.abc import Iterator
from dataclasses import replace

import fastavro
import pytest

from ottla.pipelines.declaration import Pipeline, Trigger
from ottla.pipelines.declare import avro, json, pipeline, topic
from ottla.pipelines.reading.wire import header
from ottla.pipelines.running.run import Run, RunFailed
from ottla.pipelines.running.status import State
from tests.pipelines import registry
from tests.pipelines.lab import Lab

BIG = 2**40


@pytest.fixture
def served() -> Iterator[registry.Registry]:
    with registry.running() as it:
        yield it


def record(kind: str, **more: object) -> dict[str, object]:
    fields = [{"name": "n", "type": kind}, *({"name": name, "type": t} for name, t in more.items())]
    return {"type": "record", "name": "Count", "fields": fields}


def write(
    lab: Lab, served: registry.Registry, schema: dict[str, object], rows: list[object]
) -> None:
    topic = f"{lab.name}-in"
    front = header(served.register(f"{topic}-value", text.dumps(schema)))
    values = []
    for row in rows:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), row)
        values.append(front + stream.getvalue())
    lab.produce(topic, values)


def counts(lab: Lab, url: str, schema: str | None = None) -> Pipeline:
    return pipeline(
        name="counts",
        source=topic(lab.topic("in"), format=avro(schema=schema, registry=url)),
        sink=topic(lab.topic("out"), format=json()),
        trigger=Trigger(),
    )(lambda events: events)


def until(run: Run, lab: Lab, count: int) -> list[object]:
    """Runs it until so many rows were written."""
    while len(found := [row["n"] for row in lab.rows(f"{lab.name}-out")]) < count:
        assert not run.wait(0.2)
    return sorted(found)


def test_new_fields_and_wider_ones_go_on(lab: Lab, served: registry.Registry) -> None:
    flow = counts(lab, served.url)
    write(lab, served, record("int"), [{"n": 1}])
    run = lab.start(flow)
    try:
        assert until(run, lab, 1) == [1]
        write(lab, served, record("int", more="string"), [{"n": 2, "more": "new"}])
        assert until(run, lab, 2) == [1, 2]
        write(lab, served, record("long", more="string"), [{"n": BIG, "more": "new"}])
        assert until(run, lab, 3) == [1, 2, BIG]
        assert run.status.state is State.RUNNING
        assert run.status.rows_in == 3, "it counts on"
    finally:
        run.stop()
        run.wait(60)


def test_a_breaking_change_stops_it_and_shows_the_difference(
    lab: Lab, served: registry.Registry
) -> None:
    flow = counts(lab, served.url)
    write(lab, served, record("int"), [{"n": 1}])
    lab.run(flow)
    run = lab.start(replace(flow, trigger=Trigger()))
    write(lab, served, record("string"), [{"n": "one"}])
    with pytest.raises(RunFailed, match="schema 2, which cannot be read") as stopped:
        run.wait(60)
    assert "! n: int became string" in str(stopped.value)
    assert "! n: int became string" in (run.status.last_error or "")
    assert run.status.state is State.FAILED
    assert until(run, lab, 1) == [1]


def test_a_declared_schema_is_not_widened_behind_its_owners_back(
    lab: Lab, served: registry.Registry
) -> None:
    flow = counts(lab, served.url, text.dumps(record("int")))
    write(lab, served, record("long"), [{"n": BIG}])
    with pytest.raises(RunFailed, match="is wider than the pipeline's own") as stopped:
        lab.run(flow)
    assert "Give the pipeline the new schema" in str(stopped.value)
