"""How pipelines are shown: to programs, to Prometheus, in a line."""

from __future__ import annotations

from dataclasses import replace

from ottla.cli.pipeline_live import in_words
from ottla.cli.pipeline_status import Seen, to_json, to_prometheus
from ottla.pipelines.running.status import State, Status

STATUS = Status(
    pipeline='odd "one"',
    state=State.RUNNING,
    group="pipeline.odd",
    bootstrap="127.0.0.1:9092",
    sink="topic out",
    guarantee="exactly once",
    topics=("in",),
    pid=1,
    host="here",
    started_ms=1_000,
    updated_ms=2_000,
    batch=7,
    batch_ms=1_500,
    rows_in=1_200,
    rows_out=1_000,
    in_per_s=50.0,
    dead_letters=3,
    dropped={"not_null(user)": 4, "unique(id)": 5},
)


def seen(**changes: object) -> Seen:
    return replace(Seen(STATUS, "running", 100, 2_500), **changes)  # type: ignore[arg-type]


def test_what_is_left_takes_as_long_as_the_last_batch_lets_expect() -> None:
    assert seen().caught_up_in_s == 2.0
    assert seen(lag=0).caught_up_in_s == 0.0
    assert seen(lag=None).caught_up_in_s is None
    assert seen(state="stopped").caught_up_in_s is None
    assert seen(status=replace(STATUS, in_per_s=0.0)).caught_up_in_s is None


def test_programs_get_all_of_it() -> None:
    found = to_json(seen(state="silent"))
    assert found["state"] == "silent"
    assert found["lag"] == 100
    assert found["age_ms"] == 2_500
    assert found["dropped"] == {"not_null(user)": 4, "unique(id)": 5}


def test_prometheus_gets_each_metric_once_with_its_kind_and_every_pipeline_below_it() -> None:
    other = seen(status=replace(STATUS, pipeline="even"), lag=None, age_ms=None)
    lines = to_prometheus([seen(), other]).splitlines()
    assert 'ottla_pipeline_lag_records{pipeline="odd \\"one\\""} 100' in lines
    assert 'ottla_pipeline_dropped_total{pipeline="even"} 9' in lines
    assert lines.count("# TYPE ottla_pipeline_rows_in_total counter") == 1
    assert lines.count("# TYPE ottla_pipeline_up gauge") == 1
    assert not [line for line in lines if "even" in line and "lag" in line]


def test_a_line_says_only_what_happened() -> None:
    assert in_words(STATUS) == (
        "batch 7 in 1s · 1,200 in, 1,000 out · 50/s · 3 dead letters · 9 dropped"
    )
    quiet = replace(STATUS, dead_letters=0, dropped={})
    assert in_words(quiet) == "batch 7 in 1s · 1,200 in, 1,000 out · 50/s"
