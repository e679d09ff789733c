"""Which open transactions end by themselves, and which never do."""

from __future__ import annotations

import pytest

from ottla.admin.transaction_verdicts import (
    Judged,
    KnownTransaction,
    OpenTransaction,
    Verdict,
    confirmed,
    hanging,
    is_silent,
    judge,
)

ORDERS, OTHER = ("orders", 3), ("orders", 4)
NOW_MS = 1_000_000
OPENED = OpenTransaction(
    partition=ORDERS,
    producer_id=4001,
    producer_epoch=2,
    coordinator_epoch=7,
    start_offset=120,
    last_write_ms=NOW_MS - 1_000,
)
KNOWN = KnownTransaction(
    transactional_id="etl-1",
    coordinator=0,
    state="Ongoing",
    producer_id=4001,
    producer_epoch=2,
    timeout_ms=60_000,
    started_ms=NOW_MS - 10_000,
    partitions=(ORDERS, OTHER),
)


def verdict(*known: KnownTransaction) -> Verdict:
    return judge(OPENED, known, now_ms=NOW_MS).verdict


def test_what_its_coordinator_has_still_to_end_is_ongoing() -> None:
    judged = judge(OPENED, [KNOWN], now_ms=NOW_MS)
    assert judged == Judged(OPENED, KNOWN, Verdict.ONGOING, KNOWN.started_ms)
    assert KNOWN.left_ms(NOW_MS) == 50_000


def test_after_its_timeout_it_is_overdue() -> None:
    at_its_end = KNOWN._replace(started_ms=NOW_MS - 60_000)
    assert verdict(at_its_end) is Verdict.ONGOING
    assert verdict(KNOWN._replace(started_ms=NOW_MS - 60_001)) is Verdict.OVERDUE


@pytest.mark.parametrize("state", ["PrepareCommit", "PrepareAbort", "PrepareEpochFence"])
def test_what_is_decided_only_waits_for_its_marker(state: str) -> None:
    long_ago = KNOWN._replace(state=state, started_ms=0)
    assert verdict(long_ago) is Verdict.ENDING
    assert long_ago.left_ms(NOW_MS) is None


def test_what_no_coordinator_knows_hangs() -> None:
    assert verdict() is Verdict.HANGING
    assert verdict(KNOWN._replace(producer_id=4002)) is Verdict.HANGING


def test_what_its_coordinator_knows_without_this_partition_hangs() -> None:
    done = KNOWN._replace(state="CompleteCommit", partitions=(), started_ms=None)
    judged = judge(OPENED, [done], now_ms=NOW_MS)
    assert (judged.verdict, judged.known, judged.began_ms) == (Verdict.HANGING, done, None)
    assert verdict(KNOWN._replace(partitions=(OTHER,))) is Verdict.HANGING


def test_of_two_ids_with_one_producer_that_with_the_partition_counts() -> None:
    elsewhere = KNOWN._replace(transactional_id="etl-0", partitions=())
    assert judge(OPENED, [elsewhere, KNOWN], now_ms=NOW_MS).known == KNOWN


def test_a_newer_epoch_at_the_coordinator_ends_the_older_in_the_partition() -> None:
    assert verdict(KNOWN._replace(producer_epoch=3, state="PrepareAbort")) is Verdict.ENDING


def test_silence_is_counted_from_the_last_write() -> None:
    assert is_silent(OPENED, for_ms=999, now_ms=NOW_MS)
    assert not is_silent(OPENED, for_ms=1_000, now_ms=NOW_MS)


def test_only_what_hangs_in_both_looks_is_confirmed() -> None:
    first = judge(OPENED, [], now_ms=NOW_MS)
    ended_since = judge(OPENED._replace(start_offset=90), [], now_ms=NOW_MS)
    known_since = judge(OPENED._replace(partition=OTHER), [], now_ms=NOW_MS)
    begun_since = judge(OPENED._replace(start_offset=500), [], now_ms=NOW_MS)
    second = [first, begun_since, judge(known_since.open, [KNOWN], now_ms=NOW_MS)]
    assert confirmed([ended_since, first, known_since], second) == [first]
    assert hanging(second) == [first, begun_since]
