"""The workload on a model of a cluster: complete, repeatable, and it shows what is wrong."""

from __future__ import annotations

import pytest

from ottla.verify.checker import check
from ottla.verify.findings import Kind
from ottla.verify.history import Fenced, FinalRead, History, Isolation, Recorder
from ottla.verify.stage import Plan, Stage, Stuck
from ottla.verify.workload import Workload
from tests.unit.verify.clients import ModelClients

PLAN = Plan("input", "output", "loop", partitions=2, transactions=25)


def run(clients: ModelClients, seed: int, plan: Plan = PLAN, *, most_steps: int = 10**9) -> History:
    recorder = Recorder()
    seconds = iter(range(10**9))
    stage = Stage(clients, plan, recorder, seed=seed, elapsed_s=lambda: next(seconds) / 100)
    workload = Workload(stage)
    steps: list[int] = []
    workload.run(steps.append, lambda: len(steps) >= most_steps)
    workload.finish()
    return recorder.history()


@pytest.mark.parametrize("seed", range(10))
def test_nothing_is_wrong_with_a_cluster_that_does_everything_right(seed: int) -> None:
    report = check(run(ModelClients(), seed))
    assert report.findings == ()
    assert report.statistics.committed > 10
    assert report.statistics.aborted > 2
    assert report.statistics.reads > 100


def test_the_loop_transforms_everything_that_is_committed() -> None:
    history = run(ModelClients(), 7)
    inputs = [
        record
        for event in history.events
        if isinstance(event, FinalRead) and event.partition.topic == "input"
        for record in event.records
        if event.isolation is Isolation.READ_COMMITTED
    ]
    assert check(history).statistics.transformed == len(inputs) > 0


def test_zombies_are_part_of_it_and_hear_that_they_are_fenced() -> None:
    history = run(ModelClients(), 1)
    assert any(isinstance(event, Fenced) for event in history.events)


def test_a_seed_repeats_a_run() -> None:
    assert run(ModelClients(), 3) == run(ModelClients(), 3)
    assert run(ModelClients(), 3) != run(ModelClients(), 4)


def test_a_cluster_that_forgets_commits_is_found_out() -> None:
    plan = PLAN._replace(members=0)
    assert Kind.LOST_WRITE in check(run(ModelClients(forgets=True), 1, plan)).counts


@pytest.mark.parametrize("steps", [0, 1, 10, 100, 300])
def test_a_run_that_is_stopped_leaves_a_good_history(steps: int) -> None:
    assert check(run(ModelClients(), 5, most_steps=steps)).findings == ()


def test_a_loop_that_gets_nowhere_is_told() -> None:
    with pytest.raises(Stuck, match="the loop stands still at offset 0 of input-"):
        run(ModelClients(expels=True), 1, PLAN._replace(transactions=5))


def test_a_transaction_that_hangs_is_told() -> None:
    with pytest.raises(Stuck, match="the last stable offset"):
        run(ModelClients(hangs="the last stable offset of x stands still"), 1)
