"""`ottla pipeline audit` over a ledger in a folder: what people and programs are told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ottla.cli.audit_output import comparison_to_json, print_comparison
from ottla.cli.pipeline_audit import audit_command
from ottla.pipelines.folder import LocalFolder
from ottla.pipelines.reading.tally import Counts, Slot, Tally
from ottla.pipelines.repair.entry import AcceptedLoss, Entry
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.losses import Cause, Loss
from ottla.pipelines.repair.topic_compare import Comparison, Summary
from tests.unit.cli.commands import told

PLACE = ("views", 0)


def entry(batch: int, *, dropped: int = 1) -> Entry:
    slot = Slot("views", 0, 7)
    came = Counts(10, 7, 2, {"late": dropped}, {}, 9, 5)
    return Entry(
        batch=batch,
        began_ms=1_000 * batch,
        starts={PLACE: 12 * batch},
        ends={PLACE: 12 * batch + 12},
        tally_in=Tally({slot: came}),
        tally_out=Tally({slot: Counts(passed=6)}),
        rows_out=6,
        is_row_wise=True,
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(LocalFolder(str(tmp_path / "hits/generation-2/ledger")))
    for batch in range(3):
        ledger.record(entry(batch))
    Ledger(LocalFolder(str(tmp_path / "hits/generation-1/ledger"))).record(entry(0, dropped=0))
    return ledger


def audit(tmp_path: Path, *arguments: str) -> Result:
    app = typer.Typer()
    app.command()(audit_command)
    return CliRunner().invoke(app, [*arguments, "--state", str(tmp_path)])


def test_what_holds_is_told_with_its_numbers(ledger: Ledger, tmp_path: Path) -> None:
    done = audit(tmp_path, "hits")
    assert done.exit_code == 0
    header, row, summary, dropped, gap = done.stdout.splitlines()
    assert header.split() == ["topic", "partition", "in", "passed", "dead", "dropped", "out"]
    assert row.split() == ["views", "0", "30", "21", "6", "3", "18"]
    assert summary == (
        "hits: batches 0 to 2 hold: 30 in = 21 passed + 6 dead + 3 dropped; "
        "18 rows out, 3 filtered by the function."
    )
    assert dropped == "Dropped by late: 3."
    assert gap == "views:0: 6 offsets without a record; --recount reads them again."


def test_programs_are_told_every_minute(ledger: Ledger, tmp_path: Path) -> None:
    found: dict[str, Any] = json.loads(audit(tmp_path, "hits", "--json").stdout)
    assert (found["pipeline"], found["generation"], found["holds"]) == ("hits", 2, True)
    assert (found["in"], found["passed"], found["dead"]) == (30, 21, 6)
    assert (found["dropped"], found["rows_out"], found["filtered"]) == ({"late": 3}, 18, 3)
    counts = {"in": 30, "passed": 21, "dead": 6, "dropped": {"late": 3}, "out": 18}
    place = {"topic": "views", "partition": 0}
    assert found["partitions"] == [place | counts]
    assert found["minutes"] == [place | counts | {"at_ms": 420_000, "key_sum": 27}]
    assert found["gaps"] == [place | {"offsets": 6, "unproven": 6}]


def test_the_first_batch_that_does_not_hold_is_named(ledger: Ledger, tmp_path: Path) -> None:
    ledger.record(entry(1, dropped=2))
    done = audit(tmp_path, "hits")
    assert done.exit_code == 1
    assert "hits: batches 0 to 0 held: 10 in" in done.stdout
    assert told(done) == (
        "ottla: hits: batch 1 does not hold: views:0 at 1970-01-01T00:07Z: 10 in, but 7 passed + "
        "2 dead + 2 dropped = 11."
    )
    found = json.loads(audit(tmp_path, "hits", "--json").stdout)
    assert (found["holds"], found["fault"]["batch"], found["batches"]) == (False, 1, 1)


def test_only_batches_of_the_time_are_looked_at(ledger: Ledger, tmp_path: Path) -> None:
    ledger.record(entry(0, dropped=2))
    done = audit(tmp_path, "hits", "--from", "1000", "--to", "1970-01-01T00:00:02Z")
    assert "hits: batches 1 to 1 hold" in done.stdout
    nothing = audit(tmp_path, "hits", "--from", "5000")
    assert nothing.exit_code == 1
    assert told(nothing) == (
        "ottla: no batch of hits began in that time: there is nothing to prove."
    )


def test_an_older_generation_can_be_looked_at(ledger: Ledger, tmp_path: Path) -> None:
    assert "batch 0 does not hold" in told(audit(tmp_path, "hits", "--generation", "1"))
    missing = told(audit(tmp_path, "hits", "--generation", "7"))
    assert missing == "ottla: hits has no generation 7: there are 1, 2."


def test_accepted_losses_are_told(ledger: Ledger, tmp_path: Path) -> None:
    moved = replace(entry(3), starts={PLACE: 40}, ends={PLACE: 52})
    ledger.record(moved)
    assert audit(tmp_path, "hits").exit_code == 1
    loss = Loss("views", 0, 36, 40, Cause.DELETED, 40)
    ledger.record_loss(AcceptedLoss(2, 1, (loss,)))
    done = audit(tmp_path, "hits")
    assert done.exit_code == 0
    assert (
        "Accepted as lost: views:0: deleted before it was read: offsets 36 to 39 (4)."
        in done.stdout
    )


def test_a_wrong_call_is_told_how(ledger: Ledger, tmp_path: Path) -> None:
    assert "holds no pipeline: has it run" in told(audit(tmp_path, "nobody"))
    for arguments in ((), ("hits", "--compare", "a", "b")):
        wrong = audit(tmp_path, *arguments)
        assert wrong.exit_code == 2
        assert "name of a pipeline, or --compare TOPIC TOPIC" in told(wrong)
    assert "is no time" in told(audit(tmp_path, "hits", "--from", "yesterday"))


def test_differences_of_topics_are_shown_by_minute(capsys: pytest.CaptureFixture[str]) -> None:
    left = {-1: Summary(1, 5), 7: Summary(4, 9), 8: Summary(2, 2)}
    right = {7: Summary(3, 9), 8: Summary(2, 3), 9: Summary(2, 0)}
    print_comparison("a", "b", Comparison(left, right))
    out, err = capsys.readouterr()
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["without", "a", "time", "1", "0", "-1", "others"],
        ["1970-01-01T00:07Z", "4", "3", "-1", "the", "same"],
        ["1970-01-01T00:08Z", "2", "2", "+0", "others"],
        ["1970-01-01T00:09Z", "0", "2", "+2", "the", "same"],
    ]
    assert err == (
        "ottla: a (7 records) and b (7 records) differ in 4 minutes; in all they differ, too.\n"
    )
    many = Comparison({minute: Summary(1, 0) for minute in range(25)}, {})
    print_comparison("a", "b", many)
    assert "… and 5 more minutes; see --json." in capsys.readouterr().out
    assert comparison_to_json("a", "b", Comparison({-1: Summary(1, 5)}, {})) == {
        "left": {"topic": "a", "records": 1, "key_sum": 5},
        "right": {"topic": "b", "records": 0, "key_sum": 0},
        "equal": False,
        "differences": [
            {
                "at_ms": None,
                "left": {"records": 1, "key_sum": 5},
                "right": {"records": 0, "key_sum": 0},
            }
        ],
    }
