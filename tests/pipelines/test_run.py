"""Pipelines from topic to topic: every record accounted for, over runs, stops and repeats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from pyspark.sql import DataFrame

from ottla.pipelines.declaration import Pipeline
from ottla.pipelines.declare import json, noop, not_null, pipeline, raw, topic, unique
from ottla.pipelines.kafka import Committed
from ottla.pipelines.repair.letter_records import from_record
from ottla.pipelines.repair.losses import DataLoss
from ottla.pipelines.running.run import RunFailed
from ottla.pipelines.running.status import State
from tests.pipelines.lab import Lab

POISON = b"\xff not JSON"


@dataclass
class Visit:
    id: int
    user: str | None


def visits(numbers: range) -> list[object]:
    """Every tenth has no user, every hundredth cannot be read."""
    return [
        POISON if n % 100 == 0 else {"id": n, "user": None if n % 10 == 0 else f"user-{n}"}
        for n in numbers
    ]


def odd_ones(lab: Lab, **parts: Any) -> Pipeline:
    @pipeline(
        **{
            "source": topic(lab.topic("in"), format=json(Visit), at_once=300),
            "sink": topic(lab.topic("out"), format=json(), key="id"),
            "contract": [not_null("user", otherwise="drop")],
            "dead_letters": topic(lab.topic("dlq")),
            **parts,
        }
    )
    def odd(events: DataFrame) -> DataFrame:
        return events.where("id % 2 = 1")

    return odd


def ids(lab: Lab) -> list[int]:
    return sorted(row["id"] for row in lab.rows(f"{lab.name}-out"))


def test_every_record_is_written_dropped_or_a_dead_letter(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(1_000)))
    status = lab.run(odd)
    assert ids(lab) == [n for n in range(1_000) if n % 2]
    assert status.state is State.FINISHED
    assert (status.rows_in, status.rows_out, status.dead_letters) == (1_000, 500, 10)
    assert status.dropped == {"not_null(user)": 90}
    assert len(lab.batches) > 1, "one batch shows little"
    letters = [
        from_record(record.key, record.value, record.headers).letter
        for record in lab.records(f"{lab.name}-dlq")
    ]
    assert [letter.value for letter in letters] == [POISON] * 10
    assert sorted(letter.key or b"" for letter in letters) == sorted(
        b"%d" % n for n in range(0, 1_000, 100)
    )
    done = lab.cluster.committed(odd.group)
    assert {place: at.offset for place, at in done.items()} == lab.cluster.ends(done)


def test_the_next_run_goes_on_and_a_batch_that_spark_forgot_is_not_written_twice(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(400)))
    lab.run(odd)
    commits = lab.state(odd).folder_of(0, "checkpoint/commits")
    commits.delete(max(commits.names(), key=int))
    lab.produce(f"{lab.name}-in", visits(range(400, 500)))
    before = len(lab.batches)
    status = lab.run(odd)
    assert ids(lab) == [n for n in range(500) if n % 2]
    assert len(lab.records(f"{lab.name}-dlq")) == 5
    assert status.batch is not None
    assert len(lab.batches) > before


def test_a_stopped_pipeline_stays_so_until_it_is_resumed(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(200)))
    run = lab.start(odd)
    while not lab.batches:
        assert not run.wait(0.2)
    lab.state(odd).ask_to_stop(now_ms=1)
    assert run.wait(0.2) or run.wait(60)
    assert run.status.state is State.STOPPED
    with pytest.raises(RunFailed, match="was stopped; `ottla pipeline resume` lets it go on"):
        lab.run(odd)
    lab.state(odd).resume()
    assert lab.run(odd).state is State.FINISHED
    assert ids(lab) == [n for n in range(200) if n % 2]


def test_a_stop_in_mid_batch_lets_it_finish_and_needs_no_further_one(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(1, 10)))
    run = lab.start(odd, on_batch=lambda status: run.stop())
    assert any(run.wait(1) for _ in range(60))
    assert run.status.state is State.STOPPED
    assert ids(lab) == [1, 3, 5, 7, 9]


def test_a_reset_pipeline_begins_anew(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(50)))
    lab.run(odd)
    assert lab.state(odd).begin_anew() == 1
    assert lab.run(odd).generation == 1
    assert ids(lab) == sorted([n for n in range(50) if n % 2] * 2)


def test_a_rule_that_stops_ends_the_run_with_its_sentence(lab: Lab) -> None:
    odd = odd_ones(lab, contract=[not_null("user", otherwise="stop")])
    lab.produce(f"{lab.name}-in", [{"id": 1, "user": "ann"}, {"id": 2, "user": None}])
    with pytest.raises(RunFailed, match=r"not_null\(user\)"):
        lab.run(odd)
    status = lab.state(odd).status()
    assert status is not None
    assert status.state is State.FAILED
    assert "not_null(user)" in (status.last_error or "")
    assert lab.records(f"{lab.name}-out") == []


def test_a_function_that_fails_leaves_nothing_behind_and_says_what_happened(lab: Lab) -> None:
    @pipeline(source=topic(lab.topic("in"), format=json(Visit)), sink=topic(lab.topic("out")))
    def broken(events: DataFrame) -> DataFrame:
        return events.selectExpr("cast(raise_error('no such thing') as string) as value")

    lab.produce(f"{lab.name}-in", visits(range(1, 5)))
    with pytest.raises(RunFailed, match="no such thing"):
        lab.run(broken)
    assert lab.records(f"{lab.name}-out") == []


def test_another_sink_does_not_fit_the_old_checkpoint(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(20)))
    lab.run(odd)
    elsewhere = replace(odd, sink=noop())
    with pytest.raises(RunFailed, match="does not fit its checkpoint any more:\n  - rows went to"):
        lab.run(elsewhere)
    assert lab.run(elsewhere, accept_upgrade=True).rows_in == 0


def test_a_topic_that_is_gone_stops_it_in_a_sentence(lab: Lab) -> None:
    odd = odd_ones(lab, source=topic(lab.topic("in"), format=json(Visit)))
    lab.produce(f"{lab.name}-in", visits(range(10)))
    lab.run(odd)
    lab.delete_topic(f"{lab.name}-in")
    with pytest.raises(DataLoss, match=f"{lab.name}-in"):
        lab.run(odd)


def test_a_topic_that_was_made_anew_stops_the_pipeline_until_the_loss_is_accepted(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(20)))
    lab.run(odd)
    lab.delete_topic(f"{lab.name}-in")
    lab.topic("in")
    lab.produce(f"{lab.name}-in", visits(range(1_001, 1_101)))
    with pytest.raises(DataLoss, match="deleted and made anew"):
        lab.run(odd)
    lab.run(odd, accept_loss=True)
    assert ids(lab) == [n for n in (*range(20), *range(1_001, 1_101)) if n % 2]


def test_what_is_wrong_with_no_place_for_dead_letters_stops_it(lab: Lab) -> None:
    odd = odd_ones(lab, dead_letters=None)
    lab.produce(f"{lab.name}-in", [POISON])
    with pytest.raises(RunFailed, match="malformed"):
        lab.run(odd)


def test_bytes_go_through_as_they_are(lab: Lab) -> None:
    @pipeline(source=topic(lab.topic("in"), format=raw()), sink=topic(lab.topic("out")))
    def copy(events: DataFrame) -> DataFrame:
        return events

    values = [b"", POISON, bytes(range(256))]
    lab.produce(f"{lab.name}-in", values, partition=0)
    lab.run(copy)
    found = lab.records(f"{lab.name}-out")
    assert sorted((record.key, record.value) for record in found) == [
        (b"%d" % number, value) for number, value in enumerate(values)
    ]


def test_in_real_time_rows_come_at_once_and_the_group_shows_how_far_it_is(lab: Lab) -> None:
    @pipeline(
        source=topic(lab.topic("in", partitions=1), format=json(Visit)),
        sink=topic(lab.topic("out", partitions=1), format=json(), delivery="realtime"),
        malformed="drop",
        every="5 seconds",
    )
    def fast(events: DataFrame) -> DataFrame:
        return events.where("id > 1")

    run = lab.start(fast)
    lab.produce(f"{lab.name}-in", [{"id": 1, "user": "a"}, POISON, {"id": 2, "user": "b"}])
    everything = Committed(3, "")
    while lab.cluster.committed(fast.group).get((f"{lab.name}-in", 0)) != everything:
        assert not run.wait(0.5)
    run.stop()
    assert run.wait(60)
    assert lab.rows(f"{lab.name}-out") == [{"id": 2, "user": "b"}]
    assert run.status.guarantee == "at least once"
    assert run.status.state is State.STOPPED


def test_a_value_that_comes_twice_in_a_batch_passes_once(lab: Lab) -> None:
    twice = odd_ones(lab, contract=[unique("id")])
    lab.produce(f"{lab.name}-in", [{"id": n % 5, "user": "a"} for n in range(10)])
    status = lab.run(twice)
    assert ids(lab) == [1, 3]
    assert (status.rows_in, status.rows_out, status.dead_letters) == (10, 2, 5)
    assert len(lab.records(f"{lab.name}-dlq")) == 5


def test_a_batch_of_which_nobody_knows_if_it_was_written_is_not_repeated_unasked(lab: Lab) -> None:
    odd = odd_ones(lab)
    lab.produce(f"{lab.name}-in", visits(range(1, 90)))
    lab.run(odd)
    lab.produce(f"{lab.name}-in", [{"id": 91, "user": "a"}])
    lab.run(odd)
    commits = lab.state(odd).folder_of(0, "checkpoint/commits")
    commits.delete(max(commits.names(), key=int))
    lab.cluster.forget_group(odd.group)
    with pytest.raises(RunFailed, match="batch 1 was begun and not finished, and the group"):
        lab.run(odd)
    lab.run(odd, accept_repeat=True)
    assert ids(lab) == [*(n for n in range(1, 90) if n % 2), 91, 91]
