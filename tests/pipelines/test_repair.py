"""Repair from end to end: letters sent back through the pipeline, losses accepted, audits held."""

from __future__ import annotations

import json as text
from dataclasses import dataclass
from typing import Any

import pytest
import typer
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame
from typer.testing import CliRunner, Result

from ottla.cli.pipeline_audit import audit_command
from ottla.pipelines.declaration import Pipeline
from ottla.pipelines.declare import json, not_null, pipeline, topic
from ottla.pipelines.repair.dead_letters import DeadLetters, FoundLetter, Wanted
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.losses import DataLoss
from ottla.pipelines.repair.markers import State
from ottla.timing.clock import SystemClock
from tests.pipelines.lab import Lab

POISON = b"\xff not JSON"


@dataclass
class Visit:
    id: int
    user: str | None


def keeping(lab: Lab, **parts: Any) -> Pipeline:
    @pipeline(
        **{
            "source": topic(lab.topic("in"), format=json(Visit), at_once=40),
            "sink": topic(lab.topic("out"), format=json(), key="id"),
            "contract": [not_null("user")],
            "dead_letters": topic(lab.topic("dlq")),
            **parts,
        }
    )
    def keep(events: DataFrame) -> DataFrame:
        return events

    return keep


def users(*numbers: int) -> list[object]:
    return [{"id": number, "user": f"user-{number}"} for number in numbers]


def letters(lab: Lab) -> DeadLetters:
    return DeadLetters(lab.cluster, f"{lab.name}-dlq", SystemClock())


def waiting(lab: Lab) -> list[FoundLetter]:
    """Those that wait, by what they broke."""
    found = letters(lab).find(Wanted(state=State.WAITING))
    return sorted(found, key=lambda letter: letter.stored.letter.rule)


def audited(lab: Lab, kept: Pipeline, *options: str) -> Result:
    app = typer.Typer()
    app.command()(audit_command)
    where = ("--state", str(lab.root), "-b", lab.cluster.bootstrap)
    return CliRunner().invoke(app, [kept.name, *where, *options])


def audit(lab: Lab, kept: Pipeline, *options: str) -> dict[str, Any]:
    told: dict[str, Any] = text.loads(audited(lab, kept, "--json", *options).stdout)
    return told


def test_a_letter_goes_through_the_pipeline_again_and_says_if_it_fails_again(lab: Lab) -> None:
    keep = keeping(lab)
    lab.produce(f"{lab.name}-in", [*users(1), POISON, {"id": 2, "user": None}], partition=1)
    lab.run(keep)
    first = waiting(lab)
    assert [(each.stored.letter.rule, each.stored.attempts) for each in first] == [
        ("malformed", 1),
        ("not_null(user)", 1),
    ]
    assert [each.stored.letter.value for each in first] == [POISON, b'{"id": 2, "user": null}']
    assert [len(chunk) for chunk in letters(lab).redrive(Wanted())] == [2]
    assert list(letters(lab).redrive(Wanted())) == []
    status = lab.run(keep)
    assert (status.rows_in, status.dead_letters) == (2, 2)
    again = waiting(lab)
    assert [(each.stored.letter.rule, each.stored.attempts) for each in again] == [
        ("malformed", 2),
        ("not_null(user)", 2),
    ]
    assert [each.stored.letter.partition for each in again] == [1, 1]
    told = audit(lab, keep, "--recount")
    assert (told["holds"], told["in"], told["passed"], told["dead"]) == (True, 5, 1, 4)


def test_an_audit_holds_over_runs_and_repeats_and_finds_what_was_tampered_with(lab: Lab) -> None:
    keep = keeping(lab)
    lab.produce(f"{lab.name}-in", [*users(*range(1, 100)), POISON])
    lab.run(keep)
    commits = lab.state(keep).folder_of(0, "checkpoint/commits")
    commits.delete(max(commits.names(), key=int))
    lab.produce(f"{lab.name}-in", users(*range(100, 130)))
    lab.run(keep)
    told = audit(lab, keep)
    assert (told["holds"], told["in"], told["passed"], told["dead"]) == (True, 130, 129, 1)
    assert (told["rows_out"], told["filtered"], told["gaps"]) == (129, 0, [])
    assert told["batches"] == told["last_batch"] + 1 > 2
    ledger = lab.state(keep).folder_of(0, "ledger")
    entry = text.loads(ledger.read("batches/1.json") or b"")
    entry["in"][0]["passed"] -= 1
    ledger.write("batches/1.json", text.dumps(entry).encode())
    wrong = audited(lab, keep)
    assert wrong.exit_code == 1
    assert "batch 1 does not hold: " in wrong.stderr


def test_deleted_records_stop_a_pipeline_until_the_loss_is_accepted_and_audited(lab: Lab) -> None:
    keep = keeping(lab, dead_letters=None)
    lab.produce(f"{lab.name}-in", users(*range(10)), partition=0)
    lab.run(keep)
    lab.produce(f"{lab.name}-in", users(*range(10, 20)), partition=0)
    admin = AdminClient({"bootstrap.servers": lab.cluster.bootstrap, "log_level": 0})
    asked = admin.delete_records([TopicPartition(f"{lab.name}-in", 0, 15)])
    for answer in asked.values():
        answer.result()
    with pytest.raises(DataLoss, match=r"offsets 10 to 14 \(5, "):
        lab.run(keep)
    lab.run(keep, accept_loss=True)
    rows = sorted(row["id"] for row in lab.rows(f"{lab.name}-out"))
    assert rows == [*range(10), *range(15, 20)]
    told = audit(lab, keep)
    assert (told["holds"], told["in"], told["passed"]) == (True, 15, 15)
    assert [(loss["start"], loss["end"]) for loss in told["losses"]] == [(10, 15)]
    assert len(Ledger(lab.state(keep).folder_of(0, "ledger")).accepted_losses()) == 1
