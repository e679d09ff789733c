"""EndTxn, what ends a transaction by itself, and what follows the end."""

from __future__ import annotations

import pytest

from ottla.coordinators.transactions.state import TransactionState
from ottla.coordinators.transactions.transaction import COMPLETE_AGAIN_MS, Transaction
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.transactions.driver import (
    FIRST_ID,
    NONE,
    ORDERS,
    TIMEOUT_MS,
    Driver,
    in_state,
)

E, S = ErrorCode, TransactionState
DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("state", "to_commit", "to_abort"),
    [
        (S.ONGOING, NONE, NONE),
        (S.COMPLETE_COMMIT, NONE, E.INVALID_TXN_STATE),
        (S.COMPLETE_ABORT, E.INVALID_TXN_STATE, NONE),
        (S.EMPTY, E.INVALID_TXN_STATE, E.INVALID_TXN_STATE),
        # What follows is pending already, and that is asked first.
        (S.PREPARE_COMMIT, E.CONCURRENT_TRANSACTIONS, E.CONCURRENT_TRANSACTIONS),
        (S.PREPARE_ABORT, E.CONCURRENT_TRANSACTIONS, E.CONCURRENT_TRANSACTIONS),
    ],
)
def test_who_ends_a_transaction_hears(
    state: TransactionState, to_commit: ErrorCode, to_abort: ErrorCode
) -> None:
    assert in_state(state).ask_end(commit=True) == [to_commit]
    assert in_state(state).ask_end(commit=False) == [to_abort]


@pytest.mark.parametrize("commit", [True, False])
def test_what_was_decided_and_nothing_pending_is_concurrent_or_wrong(commit: bool) -> None:
    driver = Driver().decided(commit=commit)
    driver.transaction.pending_state = None
    assert driver.ask_end(commit=commit) == [E.CONCURRENT_TRANSACTIONS]
    assert driver.ask_end(commit=not commit) == [E.INVALID_TXN_STATE]


@pytest.mark.parametrize("commit", [True, False])
def test_the_end_is_stored_then_answered_then_carried_out(commit: bool) -> None:
    driver = Driver().begun()
    began_ms, driver.now_ms = driver.now_ms, driver.now_ms + 9
    driver.commits_at_once = False
    answers = driver.ask_end(commit=commit)
    assert (answers, driver.prepared) == ([], [])
    driver.commit()
    assert answers == [NONE]
    assert driver.prepared == [driver.transaction]
    state = S.PREPARE_COMMIT if commit else S.PREPARE_ABORT
    expected = (FIRST_ID, 0, TIMEOUT_MS, state, ORDERS, driver.now_ms, began_ms)
    assert driver.log[-1] == expected


@pytest.mark.parametrize("commit", [True, False])
def test_once_all_have_their_marker_the_transaction_is_complete(commit: bool) -> None:
    driver = Driver().decided(commit=commit)
    began_ms, driver.now_ms = driver.now_ms, driver.now_ms + 70
    driver.transaction.marked(ORDERS[1])
    driver.transaction.marked(ORDERS[1])
    assert [*driver.transaction.partitions] == [ORDERS[0], ORDERS[2]]
    driver.finish()
    state = S.COMPLETE_COMMIT if commit else S.COMPLETE_ABORT
    assert driver.log[-1] == (FIRST_ID, 0, TIMEOUT_MS, state, (), driver.now_ms, began_ms)
    assert (driver.state, driver.transaction.pending_state) == (state, None)
    assert driver.ask_add(("orders", 0)) == [NONE]


def test_a_completion_that_the_log_refuses_is_tried_again_until_it_is_stored() -> None:
    driver = Driver().decided(commit=True)
    driver.commits_at_once = False
    driver.finish()
    for _ in range(3):
        driver.refuse(E.KAFKA_STORAGE_ERROR)
        assert driver.timers == {("complete", "shop"): driver.now_ms + COMPLETE_AGAIN_MS}
        assert driver.ask_add(("orders", 0)) == [E.CONCURRENT_TRANSACTIONS]
        driver.now_ms += COMPLETE_AGAIN_MS
        [key] = driver.timers
        driver.carry_out(driver.transaction.timer_due(key, now_ms=driver.now_ms))
    driver.commit()
    assert driver.state is S.COMPLETE_COMMIT


def test_nothing_is_complete_before_all_have_their_marker() -> None:
    driver = Driver().decided(commit=True)
    with pytest.raises(AssertionError, match="without markers"):
        driver.transaction.complete(now_ms=driver.now_ms)
    with pytest.raises(AssertionError, match="a marker while Ongoing"):
        Driver().begun().transaction.marked(ORDERS[0])


@pytest.mark.parametrize("commit", [True, False])
def test_after_a_load_what_was_decided_goes_on(commit: bool) -> None:
    fresh = Driver().decided(commit=commit).reload()
    assert fresh.prepared == [fresh.transaction]
    assert fresh.ask_end(commit=commit) == [E.CONCURRENT_TRANSACTIONS]
    fresh.finish()
    assert fresh.state is (S.COMPLETE_COMMIT if commit else S.COMPLETE_ABORT)


@pytest.mark.parametrize("state", [S.EMPTY, S.ONGOING, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
def test_after_a_load_all_else_stays_as_it_was(state: TransactionState) -> None:
    driver = in_state(state)
    fresh = driver.reload()
    assert (fresh.state, fresh.identity, fresh.prepared) == (state, driver.identity, [])
    for name in ("partitions", "timeout_ms", "started_ms", "updated_ms"):
        assert getattr(fresh.transaction, name) == getattr(driver.transaction, name)


def overdue(driver: Driver, after_ms: int) -> bool:
    return driver.transaction.is_overdue(now_ms=driver.now_ms + after_ms)


def test_a_transaction_is_overdue_once_it_took_longer_than_its_timeout() -> None:
    driver = Driver().begun()
    assert not overdue(driver, TIMEOUT_MS)
    assert overdue(driver, TIMEOUT_MS + 1)
    driver.commits_at_once = False
    driver.ask_end(commit=True)
    assert not overdue(driver, DAY_MS)  # it is just being ended


@pytest.mark.parametrize("state", [state for state in S if state not in (S.ONGOING, S.DEAD, S(7))])
def test_only_what_is_ongoing_can_be_overdue(state: TransactionState) -> None:
    assert not overdue(in_state(state), DAY_MS)


def test_an_overdue_transaction_is_aborted_and_its_producer_fenced() -> None:
    driver = Driver().begun()
    answers: list[ErrorCode] = []
    driver.carry_out(driver.transaction.abort_overdue(answers.append, now_ms=driver.now_ms))
    assert (answers, driver.state, driver.identity) == ([NONE], S.PREPARE_ABORT, (FIRST_ID, 1))
    driver.finish()
    assert driver.ask_end(commit=False, who=(FIRST_ID, 0)) == [E.PRODUCER_FENCED]
    assert driver.init((FIRST_ID, 0)).error is E.PRODUCER_FENCED


def test_an_idle_id_expires_when_nothing_was_heard_of_it_for_long() -> None:
    for state in (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT):
        driver = in_state(state)
        for after_ms, expected in ((DAY_MS - 1, False), (DAY_MS, True)):
            now_ms = driver.now_ms + after_ms
            assert driver.transaction.is_expired(now_ms=now_ms, after_ms=DAY_MS) is expected
    for state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT):
        driver = in_state(state)
        now_ms = driver.now_ms + 9 * DAY_MS
        assert not driver.transaction.is_expired(now_ms=now_ms, after_ms=DAY_MS)


def test_an_expired_id_leaves_a_tombstone_and_whoever_comes_meanwhile_comes_again() -> None:
    driver = in_state(S.COMPLETE_COMMIT)
    driver.commits_at_once = False
    gone: list[Transaction] = []
    driver.carry_out(driver.transaction.expire(gone.append, now_ms=driver.now_ms))
    assert driver.appended[-1] is None
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    assert driver.ask_add(("orders", 0)) == [E.CONCURRENT_TRANSACTIONS]
    assert not driver.transaction.is_expired(now_ms=driver.now_ms + DAY_MS, after_ms=DAY_MS)
    driver.refuse(E.NOT_ENOUGH_REPLICAS)
    assert (driver.state, gone) == (S.COMPLETE_COMMIT, [])
    driver.carry_out(driver.transaction.expire(gone.append, now_ms=driver.now_ms))
    driver.commit()
    assert (gone, driver.state) == ([driver.transaction], S.DEAD)
