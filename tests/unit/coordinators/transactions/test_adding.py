"""AddPartitionsToTxn, and whether a partition is in the transaction."""

from __future__ import annotations

import pytest

from ottla.coordinators.transactions.state import TransactionState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.transactions.driver import FIRST_ID, NONE, ORDERS, Driver, in_state

E, S = ErrorCode, TransactionState
IDLE = (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)


@pytest.mark.parametrize("state", IDLE)
def test_the_first_partitions_begin_a_transaction(state: TransactionState) -> None:
    driver = in_state(state)
    driver.now_ms += 1_000
    assert driver.ask_add(*ORDERS) == [NONE]
    assert driver.log[-1] == (*driver.identity, 60_000, S.ONGOING, ORDERS, *[driver.now_ms] * 2)


def test_more_partitions_join_it_and_do_not_begin_it_anew() -> None:
    driver = Driver().begun()
    began_ms, driver.now_ms = driver.now_ms, driver.now_ms + 500
    assert driver.ask_add(("orders", 0), ("more", 7)) == [NONE]
    last = driver.log[-1]
    assert last is not None
    assert last.partitions == (*ORDERS, ("more", 7))
    assert (last.started_ms, last.updated_ms) == (began_ms, driver.now_ms)


def test_what_is_in_it_is_answered_without_the_log() -> None:
    driver = Driver().begun()
    driver.commits_at_once = False
    assert driver.ask_add(*ORDERS[:2]) == [NONE]
    assert driver.in_flight == []


def test_it_is_answered_once_it_is_stored_and_others_come_again_meanwhile() -> None:
    driver = Driver()
    driver.init()
    driver.commits_at_once = False
    answers = driver.ask_add(*ORDERS)
    assert answers == []
    assert driver.ask_add(*ORDERS) == [E.CONCURRENT_TRANSACTIONS]
    assert driver.ask_end(commit=True) == [E.CONCURRENT_TRANSACTIONS]
    assert driver.verify(*ORDERS[:1]) == [E.TRANSACTION_ABORTABLE]
    driver.commit()
    assert answers == [NONE]
    assert driver.verify(*ORDERS[:1]) == [NONE]


@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
def test_while_markers_are_written_the_next_transaction_waits(state: TransactionState) -> None:
    driver = in_state(state)
    assert driver.ask_add(*ORDERS) == [E.CONCURRENT_TRANSACTIONS]
    assert driver.verify(*ORDERS) == [E.CONCURRENT_TRANSACTIONS] * 3
    driver.finish()
    assert driver.ask_add(*ORDERS) == [NONE]


@pytest.mark.parametrize("state", [*IDLE, S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT])
def test_strangers_and_the_overtaken_are_turned_away_in_any_state(state: TransactionState) -> None:
    driver = in_state(state)
    producer_id, epoch = driver.identity
    for who, error in (
        ((producer_id + 1, epoch), E.INVALID_PRODUCER_ID_MAPPING),
        ((producer_id, epoch - 1), E.PRODUCER_FENCED),
        ((producer_id, epoch + 1), E.PRODUCER_FENCED),
    ):
        assert driver.ask_add(("orders", 0), who=who) == [error]
        assert driver.verify(("orders", 0), who=who) == [error]
        assert driver.ask_end(commit=True, who=who) == [error]


def test_a_partition_is_verified_if_it_is_in_the_ongoing_transaction() -> None:
    driver = Driver().begun()
    expected = [NONE, E.TRANSACTION_ABORTABLE, NONE]
    assert driver.verify(ORDERS[2], ("orders", 9), ORDERS[0]) == expected
    driver.ask_end(commit=True)
    driver.finish()
    assert driver.verify(*ORDERS) == [E.TRANSACTION_ABORTABLE] * 3


def test_a_transaction_may_have_no_partitions_as_in_kafka() -> None:
    driver = Driver().begun(())
    assert driver.state is S.ONGOING
    assert driver.ask_end(commit=True, who=(FIRST_ID, 0)) == [NONE]
