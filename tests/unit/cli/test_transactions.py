"""`ottla transactions` over a scripted cluster: what people and programs are told, and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import Result

from ottla.cli.transaction_names import complete_state, complete_transaction
from ottla.network.http import json_answer
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import SystemClock
from tests.unit.admin.transactions import (
    FIRST,
    MINUTE_MS,
    SECOND,
    ScriptedTransactions,
    known,
    opened,
)
from tests.unit.cli.commands import run, told
from tests.unit.cli.test_debug import serving

CLIENT = {"client_id": "etl", "client_address": "10.0.0.1:5", "client_is_connected": True}
ENTRY = {
    "topic": "orders",
    "partition": 0,
    "transactions": [{"producer_id": 4001, **CLIENT}],
    "waiting": [{"client_id": "billing", "client_address": "10.0.0.2:6", "fetch_offset": 120}],
}


def scripted(*, hangs: bool = False) -> ScriptedTransactions:
    """One is open in both partitions; or, if it hangs, its coordinator knows of one only."""
    script = ScriptedTransactions()
    script.opened = [opened(FIRST), opened(SECOND)]
    started_ms = SystemClock().now_ms() - 2 * MINUTE_MS
    partitions = (SECOND,) if hangs else (FIRST, SECOND)
    script.known = [
        known("etl-1", *partitions, started_ms=started_ms),
        known("audit", producer_id=7, state="CompleteCommit", started_ms=None),
    ]
    return script


def transactions(script: ScriptedTransactions, *arguments: str) -> Result:
    with script.cluster.in_background() as address:
        return run("transactions", *arguments, "-b", address)


def lines(result: Result) -> list[str]:
    """With one space between words, however wide the columns are."""
    return [" ".join(line.split()) for line in result.stdout.splitlines() if line]


def objects(script: ScriptedTransactions, *arguments: str) -> Any:
    return json.loads(transactions(script, *arguments, "--json").stdout)


def test_ids_are_listed_with_what_is_open_of_them() -> None:
    header, idle, ongoing = lines(transactions(scripted(), "list"))
    assert header == (
        "transactional id state producer epoch open for time left coordinator partitions"
    )
    assert idle == "audit CompleteCommit 7 2 - - 1 -"
    assert ongoing.startswith("etl-1 Ongoing 4001 2 2m")
    assert ongoing.endswith(" 1 orders(0,1)")
    (one,) = objects(scripted(), "list", "--state", "completecommit")
    assert one == {
        "transactional_id": "audit",
        "state": "CompleteCommit",
        "producer_id": 7,
        "producer_epoch": 2,
        "timeout_ms": 15 * MINUTE_MS,
        "started_ms": None,
        "open_ms": None,
        "coordinator": 1,
        "partitions": [],
    }


def test_they_are_listed_by_producer_and_by_age() -> None:
    assert [each["transactional_id"] for each in objects(scripted(), "list", "--older-than", "1m")]
    assert objects(scripted(), "list", "--older-than", "1h") == []
    (one,) = objects(scripted(), "list", "--producer-id", "7")
    assert one["transactional_id"] == "audit"
    nothing = transactions(scripted(), "list", "--producer-id", "8")
    assert lines(nothing) == ["There are no such transactional ids."]
    assert lines(transactions(ScriptedTransactions(), "list")) == [
        "There are no transactional ids."
    ]


def test_a_mistyped_state_is_told_the_nearest() -> None:
    result = run("transactions", "list", "--state", "ongoin")
    assert result.exit_code == 2
    assert "'ongoin' is no state. Did you mean Ongoing?" in told(result)
    assert complete_state("pre") == ["PrepareCommit", "PrepareAbort", "PrepareEpochFence"]


def test_the_shell_is_offered_the_ids_that_there_are() -> None:
    context = typer.Context(TyperCommand("describe"))
    with scripted().cluster.in_background() as address:
        context.params = {"bootstrap": address}
        assert complete_transaction(context, "") == ["audit", "etl-1"]
        assert complete_transaction(context, "e") == ["etl-1"]
    assert complete_transaction(context, "") == []  # nobody answers any more


def test_an_id_is_described_with_the_partitions_it_holds_back() -> None:
    summary, first, why, second, _ = lines(transactions(scripted(), "describe", "etl-1"))
    assert summary.startswith("etl-1: Ongoing for 2m")
    assert summary.endswith("; producer 4001 (epoch 2), coordinator 1, 2 partitions")
    assert first == (
        "orders-0: last stable offset 120 of 500: read_committed consumers do not see 380 records"
    )
    assert second.startswith("orders-1: last stable offset 120 of 500")
    assert "knows transaction 'etl-1' as Ongoing, times out in 12m" in why
    (found,) = objects(scripted(), "describe", "etl-1")
    assert [each["held_back"] for each in found["partitions"]] == [380, 380]
    assert found["partitions"][0]["open"][0]["verdict"] == "ongoing"
    assert found["partitions"][0]["waiting"] is None


def test_a_mistyped_id_ends_with_a_sentence() -> None:
    result = transactions(scripted(), "describe", "etl-2")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no transactional id 'etl-2'. Did you mean etl-1?" in result.stderr


def test_without_an_id_all_partitions_that_are_held_back_are_told() -> None:
    script = scripted()
    script.opened = [opened(SECOND)]
    assert [each["partition"] for each in objects(script, "describe")] == [1]
    asked_for = objects(script, "describe", "--topic", "orders:0")
    assert [(each["partition"], each["open"]) for each in asked_for] == [(0, [])]
    assert lines(transactions(ScriptedTransactions(), "describe")) == [
        "No transaction is open: read_committed consumers see everything."
    ]


def test_an_ottla_broker_tells_who_wrote_and_who_waits() -> None:
    with serving({"/debug/transactions": lambda _: json_answer({"partitions": [ENTRY]})}) as url:
        shown = lines(transactions(scripted(), "describe", "-t", "orders:0", "--url", url))
        (document,) = objects(scripted(), "describe", "-t", "orders:0", "--url", url)
        hanging = lines(transactions(scripted(hangs=True), "find-hanging", "--url", url))
    assert "written by client etl at 10.0.0.1:5" in shown
    assert shown[-1] == "1 consumer waits for it: billing at 10.0.0.2:6 (offset 120)"
    assert "written by client etl at 10.0.0.1:5; its coordinator" in hanging[-1]
    assert document["open"][0]["client_id"] == "etl"
    assert document["waiting"] == ENTRY["waiting"]


def test_what_cannot_be_looked_at_is_told_on_stderr() -> None:
    script = scripted()
    script.refuse = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    for command in (("describe", "-t", "orders:0"), ("find-hanging", "-t", "orders:0")):
        result = transactions(script, *command)
        assert result.exit_code == 1
        assert "ottla: orders-0: TOPIC_AUTHORIZATION_FAILED" in result.stderr


def test_what_hangs_is_found_with_the_command_that_ends_it() -> None:
    result = transactions(scripted(hangs=True), "find-hanging")
    assert result.exit_code == 1
    header, row = lines(result)
    assert header == "topic partition producer epoch start offset open for silent for why"
    assert row.startswith("orders 0 4001 2 120 ")
    assert row.endswith("abort it with `ottla transactions abort orders:0 --start-offset 120`")
    (found,) = objects(scripted(hangs=True), "find-hanging", "--broker", "0")
    assert (found["verdict"], found["start_offset"], found["began_ms"]) == ("hanging", 120, 120)


def test_where_nothing_hangs_it_says_so_and_all_is_well() -> None:
    result = transactions(scripted(), "find-hanging")
    assert (result.exit_code, lines(result)) == (0, ["No transaction hangs in 2 partitions."])
    elsewhere = transactions(scripted(hangs=True), "find-hanging", "--broker", "1")
    assert lines(elsewhere) == ["No transaction hangs in 0 partitions."]


def test_what_hangs_is_aborted() -> None:
    script = scripted(hangs=True)
    result = transactions(script, "abort", "orders:0", "--start-offset", "120")
    assert lines(result) == ["Aborted what producer 4001 had open in orders-0."]
    assert script.opened == [opened(SECOND)]


def test_a_dry_run_only_tells() -> None:
    script = scripted(hangs=True)
    result = transactions(script, "abort", "orders:0", "--start-offset", "120", "--dry-run")
    assert result.stdout.startswith("Would abort in orders-0: producer 4001 (epoch 2) began at")
    assert script.opened == [opened(FIRST), opened(SECOND)]
    assert "WriteTxnMarkers" not in script.cluster.kinds()


def test_what_its_coordinator_ends_is_not_aborted_without_force() -> None:
    script, where = scripted(), ("abort", "orders:0", "--start-offset", "120")
    result = transactions(script, *where)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "It does not hang: its coordinator ends it" in result.stderr
    assert len(script.opened) == 2
    (aborted,) = objects(script, *where, "--force")
    assert (aborted["aborted"], aborted["coordinator_epoch"], aborted["error"]) == (True, -1, None)
    assert script.opened == [opened(SECOND)]


def test_an_abort_where_nothing_begins_names_what_is_open() -> None:
    result = transactions(scripted(), "abort", "orders:0", "--start-offset", "7")
    assert result.exit_code == 1
    assert (
        "no open transaction began at offset 7 in orders-0; those that are open began at 120 "
        "(producer 4001)." in result.stderr
    )
    nothing = transactions(ScriptedTransactions(), "abort", "orders:0", "--start-offset", "7")
    assert "none is open there" in nothing.stderr


def test_what_ends_while_it_is_looked_at_is_not_aborted() -> None:
    script = scripted(hangs=True)
    script.after_looks = [opened(SECOND), opened(FIRST, start_offset=130)]
    result = transactions(script, "abort", "orders:0", "--start-offset", "120")
    assert result.exit_code == 1
    assert "those that are open began at 130 (producer 4001)." in result.stderr
    assert "WriteTxnMarkers" not in script.cluster.kinds()


def test_an_old_broker_is_given_the_producer_and_its_epochs() -> None:
    script = scripted()
    given = ("--producer-id", "4001", "--producer-epoch", "2", "--coordinator-epoch", "0")
    assert transactions(script, "abort", "orders:0", *given).exit_code == 0
    assert script.opened == [opened(SECOND)]
    assert "DescribeProducers" not in script.cluster.kinds()


def test_a_refused_abort_is_told() -> None:
    script = scripted()
    script.refuse = ErrorCode.INVALID_PRODUCER_EPOCH
    given = ("--producer-id", "4001", "--producer-epoch", "1", "--coordinator-epoch", "0")
    result = transactions(script, "abort", "orders:0", *given)
    assert result.exit_code == 1
    assert "ottla: orders-0: INVALID_PRODUCER_EPOCH" in result.stderr


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "give --start-offset; or --producer-id"),
        (("--producer-id", "1"), "give --start-offset; or --producer-id"),
        (("--start-offset", "1", "--producer-id", "1"), "--start-offset says it all"),
    ],
)
def test_a_wrong_call_of_abort_is_told_what_is_missing(given: tuple[str, ...], why: str) -> None:
    result = run("transactions", "abort", "orders:0", *given)
    assert result.exit_code == 2
    assert why in told(result)
