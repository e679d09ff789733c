"""`ottla pipeline dead-letters` and `audit --compare` on a broker of our own."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ottla.admin.pace import Pace
from ottla.cli import dead_letter_redrive
from ottla.cli.pipeline_audit import audit_command
from ottla.cli.pipeline_dead_letters import dead_letters
from ottla.pipelines.repair.letter import DeadLetter
from ottla.testing.broker import Broker
from tests.integration.repair_stories import Stage
from tests.unit.cli.commands import told

LETTER = DeadLetter(
    topic="views",
    partition=1,
    offset=42,
    timestamp_ms=1_700_000_000_000,
    key=b"k",
    value=b"\xff\x01",
    headers=(("trace", b"t-1"),),
    rule="not_null(user_id)",
    error="user_id is null\x1b[2J",
)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def stage(broker: Broker, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(broker.bootstrap, "views", tmp_path)
    stage.create("views", 2)
    stage.create("views.dlq", 1)
    other = LETTER._replace(offset=43, rule="malformed", value=b'{\n "a": 1}', key=None)
    stage.lay_aside([LETTER, other])
    yield stage
    for topic in ("views", "views.dlq", "views.dlq.redriven"):
        if topic in stage.cluster.topics([topic]):
            stage.delete(topic)


def ottla(stage: Stage, *arguments: str) -> Result:
    app = typer.Typer()
    app.add_typer(dead_letters, name="dead-letters")
    app.command("audit")(audit_command)
    return CliRunner().invoke(app, [*arguments, "-b", stage.cluster.bootstrap])


def letters(stage: Stage, *arguments: str) -> Result:
    return ottla(stage, "dead-letters", *arguments)


def objects(stage: Stage, *arguments: str) -> Any:
    return json.loads(letters(stage, *arguments, "--json").stdout)


def test_letters_are_listed_and_shown(stage: Stage) -> None:
    listed = letters(stage, "list", "views.dlq")
    header, first, second = [line.split() for line in listed.stdout.splitlines()]
    assert " ".join(header) == "letter laid aside state origin attempts rule error"
    assert [first[0], *first[2:6]] == ["0:0", "waiting", "views:1:42", "1", "not_null(user_id)"]
    assert " ".join(first[6:]) == r"user_id is null\x1b[2J"
    assert second[0] == "0:1"
    [one] = objects(stage, "list", "views.dlq", "--rule", "malformed", "--origin", "views:1")
    assert one["origin"] == {
        "topic": "views",
        "partition": 1,
        "offset": 43,
        "timestamp_ms": 1_700_000_000_000,
    }
    assert (one["attempts"], one["pipeline"], one["redriven_to"]) == (1, "views", None)
    shown = letters(stage, "show", "views.dlq", "0:0").stdout.splitlines()
    assert shown[0] == "letter      views.dlq:0:0"
    assert shown[2:4] == ["state       waiting", "pipeline    views"]
    assert shown[-4:] == [
        "key         k",
        "header trace t-1",
        "value, 2 bytes in hexadecimal:",
        "    ff01",
    ]
    text = letters(stage, "show", "views.dlq", "0:1").stdout
    assert text.endswith('value, 10 bytes:\n    {\n     "a": 1}\n')
    assert objects(stage, "show", "views.dlq", "0:0")["value"] == {"base64": "/wE="}
    more = letters(stage, "list", "views.dlq", "--limit", "1")
    assert told(more) == "There are more than 1: say --limit, or which."


def test_a_dry_run_sends_nothing(stage: Stage) -> None:
    dry = letters(stage, "redrive", "views.dlq", "--dry-run")
    assert dry.stdout.splitlines()[-1] == ("Would redrive 2 dead letters of views.dlq: 2 to views.")
    assert "Would discard 1 dead letter of" in (
        letters(stage, "discard", "views.dlq", "0:1", "--dry-run").stdout
    )
    assert stage.all("views") == []
    assert {each["state"] for each in objects(stage, "list", "views.dlq")} == {"waiting"}


def test_letters_are_redriven_once_and_discarded(stage: Stage) -> None:
    sent = letters(stage, "redrive", "views.dlq", "0:0", "--rate", "50", "--yes")
    assert sent.stdout == "Redrove 1 dead letter of views.dlq: 1 to views.\n"
    assert [each.value for each in stage.all("views")] == [b"\xff\x01"]
    gone = letters(stage, "discard", "views.dlq", "--rule", "malformed")
    assert gone.stdout == "Discarded 1 dead letter of views.dlq.\n"
    nothing = letters(stage, "redrive", "views.dlq")
    assert nothing.stdout == "There are no such dead letters in views.dlq.\n"
    assert nothing.exit_code == 0
    assert letters(stage, "list", "views.dlq", "--state", "waiting").stdout.startswith("There are")
    [redriven] = objects(stage, "list", "views.dlq", "--state", "redriven")
    assert (redriven["redriven_to"], redriven["redriven_times"]) == ("views", 1)
    again = objects(stage, "redrive", "views.dlq", "0:0", "--again", "--to", "views")
    assert [each["offset"] for each in again] == [0]
    shown = letters(stage, "show", "views.dlq", "0:0").stdout.splitlines()[2]
    assert shown.startswith("state       redriven to views at 20")
    assert shown.endswith("2 times in all")


def test_an_interrupted_redrive_tells_what_it_has_done(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(pace: Pace, *, done: int, elapsed_s: float) -> float:
        signal.raise_signal(signal.SIGINT)
        return 0.0

    monkeypatch.setattr(Pace, "wait_s", interrupt)
    stopped = letters(stage, "redrive", "views.dlq", "--rate", "1")
    assert stopped.exit_code == 1
    assert stopped.stdout == "Redrove 1 dead letter of views.dlq: 1 to views.\n"
    assert told(stopped) == "ottla: interrupted; what is left was not touched."
    states = [each["state"] for each in objects(stage, "list", "views.dlq")]
    assert states == ["redriven", "waiting"]


def test_on_a_terminal_the_operator_is_asked(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letter_redrive, "_asks", lambda yes: not yes)
    asked: list[str] = []

    def refuse(question: str, *, yes: bool) -> None:
        asked.append(question)
        raise typer.Exit(1)

    monkeypatch.setattr(dead_letter_redrive, "confirm", refuse)
    assert letters(stage, "discard", "views.dlq").exit_code == 1
    assert letters(stage, "redrive", "views.dlq", "0:1").exit_code == 1
    assert asked == ["Discard 2 dead letters of views.dlq?", "Redrive 1 dead letter of views.dlq?"]
    assert {each["state"] for each in objects(stage, "list", "views.dlq")} == {"waiting"}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("list", "nowhere"), 1, "has no topic nowhere."),
        (("redrive", "nowhere"), 1, "has no topic nowhere."),
        (("redrive", "views.dlq", "--to", "nowhere"), 1, "no topic nowhere to send letters to"),
        (("show", "views.dlq", "0:9"), 1, "views.dlq has no dead letter 0:9."),
        (("show", "views.dlq", "x:9"), 2, "'x:9' is not PARTITION:OFFSET, as 0:17 is."),
        (("list", "views.dlq", "--since", "once"), 2, "'once' is no time"),
        (("list", "views.dlq", "--state", "lost"), 2, "'lost' is not one of"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(
    stage: Stage, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    wrong = letters(stage, *arguments)
    assert wrong.exit_code == code
    assert sentence in told(wrong)


def test_a_cluster_that_is_not_there_is_named_at_once() -> None:
    app = typer.Typer()
    app.add_typer(dead_letters, name="dead-letters")
    gone = CliRunner().invoke(app, ["dead-letters", "list", "views.dlq", "-b", "127.0.0.1:1"])
    assert gone.exit_code == 1
    assert "Is it running?" in told(gone)


def test_topics_are_compared(stage: Stage) -> None:
    assert ottla(stage, "audit", "--compare", "views", "views").stdout == (
        "views and views are equal: 0 records in each.\n"
    )
    differ = ottla(stage, "audit", "--compare", "views", "views.dlq", "--json")
    assert differ.exit_code == 1
    found = json.loads(differ.stdout)
    assert (found["equal"], found["right"]["records"]) == (False, 2)
