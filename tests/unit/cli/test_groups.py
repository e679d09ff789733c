"""`ottla groups` over a scripted cluster: what people and programs are told, and refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from ottla.protocol.errors import ErrorCode
from tests.unit.admin.groups import ScriptedGroup, assignment, member
from tests.unit.cli.commands import run, told

MEMBERS = (member("a", assignment({"orders": [0]})), member("b", assignment({"orders": [1]})))


@contextmanager
def serving(group: ScriptedGroup) -> Iterator[str]:
    with group.cluster.in_background() as address:
        yield address


def groups(group: ScriptedGroup, *arguments: str, stdin: bytes = b"") -> Result:
    with serving(group) as address:
        return run("groups", *arguments, "-b", address, stdin=stdin)


def lines(result: Result) -> list[str]:
    """With one space between words, however wide the columns are."""
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines() if line]


def objects(group: ScriptedGroup, *arguments: str) -> Any:
    result = groups(group, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_groups_are_listed_with_states_and_types() -> None:
    assert lines(groups(ScriptedGroup(*MEMBERS), "list")) == [
        "group state type coordinator protocol",
        "audit Empty classic 0 -",
        "billing Stable classic 1 consumer",
    ]
    (one,) = objects(ScriptedGroup(*MEMBERS), "list", "--state", "stable", "--type", "classic")
    assert one == {
        "group": "billing",
        "state": "Stable",
        "type": "Classic",
        "protocol_type": "consumer",
        "coordinator": 1,
    }
    assert lines(groups(ScriptedGroup(), "list", "--type", "consumer")) == [
        "There are no such groups."
    ]


def test_a_group_is_described_with_members_assignments_and_offsets() -> None:
    assert lines(groups(ScriptedGroup(*MEMBERS), "describe", "billing")) == [
        "billing: Stable, 2 members, assignor range, coordinator 1",
        "member instance client host partitions",
        "a-1 - a /10.0.0.1 orders(0)",
        "b-1 - b /10.0.0.1 orders(1)",
        "topic partition committed end lag owner",
        "orders 0 40 100 60 a-1",
        "orders 1 100 100 0 b-1",
    ]
    (found,) = objects(ScriptedGroup(*MEMBERS), "describe", "billing")
    assert found["members"][1]["assigned"] == [{"topic": "orders", "partition": 1}]
    assert [each["lag"] for each in found["offsets"]] == [60, 0]


def test_a_mistyped_group_is_told_the_nearest() -> None:
    for command in ("describe", "lag"):
        result = groups(ScriptedGroup(), command, "biling")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "there is no group 'biling'. Did you mean billing?" in result.stderr


def test_one_look_says_so_instead_of_judging() -> None:
    summary, _, first, second = lines(groups(ScriptedGroup(), "lag", "billing", "-n", "1"))
    assert summary.startswith("billing: ok (one sample); Empty, 60 records behind in 2 partitions")
    assert first.startswith("orders 0 40 100 60 ")
    assert first.endswith("- - - - ok (one sample)")
    assert second == "orders 1 100 100 0 0ms - - 0ms - ok (one sample)"


def test_several_looks_make_a_verdict() -> None:
    found = objects(ScriptedGroup(), "lag", "billing", "-n", "2", "--every", "0.01")
    assert (found["status"], found["samples"], found["lag"]) == ("error", 2, 60)
    assert [each["status"] for each in found["partitions"]] == ["stopped", "ok"]
    assert [each["read_per_s"] for each in found["partitions"]] == [0.0, 0.0]
    stalled = groups(ScriptedGroup(*MEMBERS), "lag", "billing", "-n", "2", "--every", "0.01")
    assert lines(stalled)[0].startswith("billing: error: 1 stalled (2 samples); Stable")


def test_watching_prints_every_look() -> None:
    result = groups(
        ScriptedGroup(), "lag", "billing", "--watch", "-n", "3", "--every", "0.01", "--json"
    )
    assert [json.loads(line)["samples"] for line in result.stdout.splitlines()] == [1, 2, 3]


def test_a_reset_shows_what_would_change_and_changes_nothing() -> None:
    group = ScriptedGroup()
    result = groups(group, "reset", "billing", "--shift-by", "30")
    assert lines(result) == [
        "topic partition before after lag then change",
        "orders 0 40 70 30 +30",
        "orders 1 100 100 0 none (130 is not there)",
    ]
    assert "Nothing is changed yet: say --execute to do it." in result.stderr
    assert group.offsets["orders", 0] == 40


def test_a_reset_is_done_when_it_is_meant() -> None:
    group = ScriptedGroup()
    done = objects(group, "reset", "billing", "-t", "orders:0", "--to-earliest", "--execute")
    assert done == [
        {
            "group": "billing",
            "topic": "orders",
            "partition": 0,
            "before": 40,
            "after": 10,
            "lag_after": 90,
            "executed": True,
            "error": None,
        }
    ]
    assert group.offsets == {("orders", 0): 10, ("orders", 1): 100}


def test_a_reset_is_exported_and_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    exported = groups(ScriptedGroup(), "reset", "billing", "--to-time", "70000", "--export")
    assert exported.stdout == "orders,0,70\norders,1,70\n"
    file.write_text(exported.stdout, encoding="utf-8")
    group = ScriptedGroup()
    assert lines(groups(group, "reset", "billing", "--from-file", str(file), "--execute"))[-1] == (
        "billing goes on from there in 2 partitions."
    )
    assert group.offsets == {("orders", 0): 70, ("orders", 1): 70}


def test_a_group_with_members_is_not_reset_and_they_are_named() -> None:
    result = groups(ScriptedGroup(*MEMBERS), "reset", "billing", "--to-latest", "--execute")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is Stable and has 2 members: a-1 (client a at /10.0.0.1), b-1 (" in result.stderr
    assert "Stop them, or wait until their sessions time out; then try again." in result.stderr


def test_a_reset_that_is_refused_meanwhile_is_told() -> None:
    group = ScriptedGroup()
    group.refuse = ErrorCode.UNKNOWN_MEMBER_ID
    result = groups(group, "reset", "billing", "--to-offset", "50", "--execute")
    assert result.exit_code == 1
    assert "refused: UNKNOWN_MEMBER_ID" in result.stdout
    assert "goes on from there in 0 partitions" in result.stdout


def test_a_group_that_nobody_knows_is_made_only_for_a_topic_that_is_named() -> None:
    unknown = groups(ScriptedGroup(), "reset", "new", "--to-latest")
    assert "there is no group 'new'" in unknown.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "nothing says where to: give one of --to-time"),
        (["--to-latest", "--to-offset", "3"], "--to-offset and --to-latest exclude each other"),
        (["--by-duration", "soon"], "'soon' is no duration"),
        (["--from-file", "-"], "there is no offset for the group 'billing' in it"),
    ],
)
def test_a_wrong_reset_is_told_before_anything_is_asked(arguments: list[str], why: str) -> None:
    result = run("groups", "reset", "billing", *arguments, "-b", "127.0.0.1:1")
    assert result.exit_code == 2
    assert why in told(result)


def test_groups_are_deleted_and_what_cannot_be_says_why() -> None:
    result = groups(ScriptedGroup(), "delete", "billing", "biling")
    assert (result.exit_code, result.stdout) == (1, "Deleted billing.\n")
    assert "there is no group 'biling'. Did you mean billing?" in result.stderr
    busy = ScriptedGroup(*MEMBERS)
    busy.refuse = ErrorCode.NON_EMPTY_GROUP
    refused = groups(busy, "delete", "billing")
    assert "The group still has members: it has 2 members: a-1 (client a" in refused.stderr
    assert "Stop them, then try again." in refused.stderr


def test_offsets_of_a_topic_are_forgotten() -> None:
    result = groups(ScriptedGroup(), "delete", "billing", "--offsets-of", "orders:1")
    assert result.stdout == "billing has forgotten where it was in orders-1.\n"
    forgotten = objects(ScriptedGroup(), "delete", "billing", "--offsets-of", "orders")
    assert [each["partition"] for each in forgotten] == [0, 1]
    result = groups(ScriptedGroup(), "delete", "billing", "--offsets-of", "payments")
    assert "the group 'billing' has no committed offset of payments." in result.stderr


def test_the_shell_is_offered_the_names_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    group = ScriptedGroup()
    with serving(group) as address:
        monkeypatch.setenv("OTTLA_BOOTSTRAP", address)
        monkeypatch.setenv("_OTTLA_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "ottla groups describe b")
        monkeypatch.setenv("COMP_CWORD", "3")
        assert run().stdout.split() == ["billing"]
