"""`ottla groups history`: the story of a group's rebalances, told by the broker's HTTP port."""

from __future__ import annotations

import json

from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.coordinators.groups.witness import Cause, Caused, Outcome, Who
from ottla.network.http import Answer, json_answer
from tests.unit.admin.groups import assignment
from tests.unit.cli.commands import run
from tests.unit.cli.test_debug import serving

ANN = Who("ann-1", "ann", "/10.0.0.1", None)
BOB = Who("bob-1", "bob", "/10.0.0.2", "bob's place")
BOTH = {ANN: assignment({"orders": [0]}), BOB: assignment({"orders": [1]})}
HOUR_MS = 3_600_000


def end(history: RebalanceHistory, outcome: Outcome, assignments: dict[Who, bytes]) -> None:
    number = len(history.rebalances())
    history.ended(
        "billing", outcome, assignments, generation=number, protocol_type="consumer",
        now_ms=number * HOUR_MS + 3_500,
    )  # fmt: skip


def remembered() -> RebalanceHistory:
    history = RebalanceHistory()
    history.began("billing", Caused(Cause.MEMBER_JOINED, ANN, None, HOUR_MS), generation=0)
    end(history, Outcome.ASSIGNED, {ANN: assignment({"orders": [0, 1]})})
    why = "the application's word"
    history.began("billing", Caused(Cause.MEMBER_JOINED, BOB, why, 2 * HOUR_MS), generation=1)
    history.went_on("billing", Caused(Cause.LEADER_REJOINED, ANN, None, 2 * HOUR_MS + 1))
    end(history, Outcome.ASSIGNED, BOTH)
    history.began("billing", Caused(Cause.MEMBER_LEFT, ANN, None, 3 * HOUR_MS), generation=2)
    end(history, Outcome.EMPTY, {})
    history.began("billing", Caused(Cause.MEMBER_JOINED, ANN, None, 4 * HOUR_MS), generation=3)
    return history


def told(history: RebalanceHistory, *arguments: str) -> str:
    def answer(query: dict[str, str]) -> Answer:
        assert query == {"group": "billing"}
        found = history.as_json(query["group"])
        for each in found:
            names = {"who": each["causes"][0]["who"], "moved": _moved(each["moves"])}
            each.update(names)
        return json_answer({"rebalances": found})

    with serving({"/debug/groups/history": answer}) as url:
        result = run("groups", "history", "billing", "--url", url, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def _moved(moves: list[dict[str, dict[str, str]]]) -> list[dict[str, object]]:
    return [
        {
            **each,
            "from": each["from"] and (each["from"]["instance_id"] or each["from"]["member_id"]),
            "to": each["to"] and (each["to"]["instance_id"] or each["to"]["member_id"]),
        }
        for each in moves
    ]


def test_each_rebalance_is_a_story() -> None:
    assert told(remembered()).splitlines() == [
        "1970-01-01T01:00:00.000Z  generation 0 to 1: member joined: ann-1 (client ann at "
        "/10.0.0.1)",
        "    took 3s; nobody read for 3s; 1 member; 2 partitions moved: "
        "orders-0 from nobody to ann-1, orders-1 from nobody to ann-1",
        "1970-01-01T02:00:00.000Z  generation 1 to 2: member joined: bob's place (client bob at "
        "/10.0.0.2), because “the application's word”",
        "    and leader rejoined: ann-1 (client ann at /10.0.0.1)",
        "    took 3s; nobody read for 3s; 2 members; 1 partition moved: "
        "orders-1 from ann-1 to bob's place",
        "1970-01-01T03:00:00.000Z  generation 2 to 3: member left: ann-1 (client ann at /10.0.0.1)",
        "    took 3s; nobody is left",
        "1970-01-01T04:00:00.000Z  generation 3: member joined: ann-1 (client ann at /10.0.0.1)",
        "    it is not over yet",
    ]


def test_the_newest_are_told_and_machines_get_all_that_the_broker_knows() -> None:
    entries = json.loads(told(remembered(), "--last", "2", "--json"))
    assert [each["cause"] for each in entries] == ["member left", "member joined"]
    assert entries[0]["who"]["client_id"] == "ann"


def test_a_group_that_never_rebalanced_has_no_story() -> None:
    assert "remembers no rebalance of billing" in told(RebalanceHistory())


def test_without_ottlas_http_port_it_says_that_only_ottla_keeps_a_history() -> None:
    result = run("groups", "history", "billing")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "only Ottla's brokers keep the history of rebalances" in result.stderr
    assert "Apache Kafka keeps none." in result.stderr
