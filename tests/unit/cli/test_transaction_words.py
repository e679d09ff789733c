"""Why a last stable offset stands still, told in sentences."""

from __future__ import annotations

from typing import Any

from ottla.admin.stability import Stability
from ottla.admin.transaction_verdicts import KnownTransaction, judge
from ottla.cli.transaction_words import story, why
from tests.unit.admin.transactions import FIRST, MINUTE_MS, NOW_MS, SECOND, known, opened

BEGAN = "producer 4001 (epoch 2) began at offset 120 in orders-0"
KNOWS = "its coordinator, broker 1, knows transaction 'etl-1' as"


def sentence(*about: KnownTransaction) -> str:
    return why(judge(opened(), about, now_ms=NOW_MS), now_ms=NOW_MS)


def stability(*about: KnownTransaction, stable: int = 120) -> Stability:
    judged = judge(opened(), about, now_ms=NOW_MS)._replace(began_ms=NOW_MS - 12 * MINUTE_MS)
    return Stability(FIRST, stable, 500, (judged,))


def told(**client: Any) -> dict[str, Any]:
    written = {"client_id": "etl", "client_address": "10.0.0.1:5", "client_is_connected": True}
    waiting = {"client_id": "billing", "client_address": "10.0.0.2:6", "fetch_offset": 120}
    return {
        "transactions": [{"producer_id": 4001, **written, **client}],
        "waiting": [waiting],
    }


def test_what_goes_on_says_when_it_times_out() -> None:
    assert sentence(known("etl-1", FIRST)) == (f"{BEGAN} 2m ago; {KNOWS} Ongoing, times out in 13m")


def test_what_is_overdue_says_since_when() -> None:
    late = known("etl-1", FIRST, started_ms=NOW_MS - 20 * MINUTE_MS)
    assert sentence(late) == (
        f"{BEGAN} 20m ago; {KNOWS} Ongoing; its time was over 5m ago, and the coordinator is to "
        "abort it any moment"
    )


def test_what_is_decided_waits_for_its_marker() -> None:
    assert sentence(known("etl-1", FIRST, state="PrepareCommit")) == (
        f"{BEGAN} 2m ago; {KNOWS} PrepareCommit: decided, but its marker is not here yet"
    )


def test_what_hangs_comes_with_the_command_that_ends_it() -> None:
    command = "`ottla transactions abort orders:0 --start-offset 120`"
    assert sentence() == f"{BEGAN}; no coordinator knows it: hanging; abort it with {command}"
    assert sentence(known("etl-1", SECOND)) == (
        f"{BEGAN}; {KNOWS} Ongoing, without this partition: hanging; abort it with {command}"
    )


def test_a_partitions_story_tells_how_far_readers_see_and_why() -> None:
    assert story(stability(), None, now_ms=NOW_MS) == [
        "orders-0: last stable offset 120 of 500: read_committed consumers do not see 380 records",
        f"    {BEGAN} 12m ago; no coordinator knows it: hanging; abort it with "
        "`ottla transactions abort orders:0 --start-offset 120`",
    ]


def test_an_ottla_broker_adds_who_wrote_and_who_waits() -> None:
    *_, written, waiting = story(stability(), told(), now_ms=NOW_MS)
    assert written == "        written by client etl at 10.0.0.1:5"
    assert waiting == "    1 consumer waits for it: billing at 10.0.0.2:6 (offset 120)"
    *_, written, _ = story(stability(), told(client_is_connected=False), now_ms=NOW_MS)
    assert written.endswith(", which has gone")
    *_, sentence, waiting = story(stability(), told(client_address=None), now_ms=NOW_MS)
    assert "began at" in sentence


def test_many_who_wait_are_counted_and_some_of_them_named() -> None:
    crowd = told() | {"waiting": told()["waiting"] * 11}
    line = story(stability(), crowd, now_ms=NOW_MS)[-1]
    assert line.startswith("    11 consumers wait for it: billing at")
    assert line.endswith(", 3 more")
    assert line.count("billing") == 8
    nobody = told() | {"waiting": []}
    assert "nobody waits" in story(stability(), nobody, now_ms=NOW_MS)[-1]


def test_without_anything_open_the_marker_or_nothing_is_the_reason() -> None:
    assert story(Stability(FIRST, 400, 500, ()), None, now_ms=NOW_MS)[-1] == (
        "    a transaction has ended, but its marker is not on all in-sync replicas yet"
    )
    assert story(Stability(FIRST, 500, 500, ()), told(), now_ms=NOW_MS) == [
        "orders-0: last stable offset 500 of 500",
        "    no transaction is open",
    ]
