"""InitProducerId: who gets which producer id and epoch, and who is fenced."""

from __future__ import annotations

import pytest

from ottla.coordinators.transactions.requests import InitAnswer, ProducerIdentity
from ottla.coordinators.transactions.state import TransactionState
from ottla.coordinators.transactions.transaction import LAST_EPOCH
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.transactions.driver import FIRST_ID, NONE, Driver, in_state

E, S = ErrorCode, TransactionState
FENCED = InitAnswer(E.PRODUCER_FENCED)
CONCURRENT = InitAnswer(E.CONCURRENT_TRANSACTIONS)
NEW_ID = 2000
IDLE = (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)


def with_epoch(epoch: int) -> Driver:
    driver = Driver()
    driver.init()
    driver.transaction.epoch = epoch
    return driver


def test_a_new_id_begins_with_epoch_0_and_is_stored_empty_without_partitions() -> None:
    driver = Driver()
    assert driver.init(timeout_ms=5_000) == (NONE, FIRST_ID, 0)
    [value] = driver.log
    assert value == (FIRST_ID, 0, 5_000, S.EMPTY, (), driver.now_ms, -1)
    assert driver.state is S.EMPTY


@pytest.mark.parametrize("state", IDLE)
def test_who_comes_while_nothing_is_ongoing_gets_the_next_epoch(state: TransactionState) -> None:
    driver = in_state(state)
    assert driver.init(timeout_ms=7_000) == (NONE, FIRST_ID, 1)
    assert (driver.state, driver.transaction.timeout_ms) == (S.EMPTY, 7_000)
    assert driver.transaction.started_ms == -1


@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
def test_who_comes_while_markers_are_written_comes_again(state: TransactionState) -> None:
    driver = in_state(state)
    assert driver.init() == CONCURRENT
    assert driver.init((1, 1)) == CONCURRENT  # before anybody asks whose it is
    driver.finish()
    assert driver.init() == (NONE, FIRST_ID, 1)


def test_while_something_is_being_stored_everybody_comes_again() -> None:
    driver = Driver()
    driver.commits_at_once = False
    first = driver.ask_init()
    assert driver.init() == CONCURRENT
    assert driver.init((FIRST_ID, 7)) == CONCURRENT
    driver.commit()
    assert first == [(NONE, FIRST_ID, 0)]


def test_who_comes_during_a_transaction_fences_its_producer_and_has_it_aborted() -> None:
    driver = Driver().begun()
    driver.now_ms += 5
    assert driver.init() == CONCURRENT
    last = driver.log[-1]
    assert last is not None
    assert (last.state, last.producer_epoch, len(last.partitions)) == (S.PREPARE_ABORT, 1, 3)
    assert driver.prepared == [driver.transaction]
    assert driver.ask_end(commit=True, who=(FIRST_ID, 0)) == [E.PRODUCER_FENCED]
    driver.finish()
    # The epoch that fenced was nobody's.
    assert driver.init() == (NONE, FIRST_ID, 2)


def test_a_fence_holds_while_it_is_being_stored() -> None:
    driver = Driver().begun()
    driver.commits_at_once = False
    answers = driver.ask_init()
    assert driver.ask_add(("more", 0), who=(FIRST_ID, 0)) == [E.PRODUCER_FENCED]
    assert driver.ask_end(commit=True, who=(FIRST_ID, 0)) == [E.PRODUCER_FENCED]
    assert answers == []
    driver.commit()
    assert answers == [CONCURRENT]


def test_a_fence_that_is_not_stored_holds_and_takes_no_second_epoch_when_it_is_tried_again() -> (
    None
):
    driver = Driver().begun()
    driver.commits_at_once = False
    for _ in range(3):
        answers = driver.ask_init()
        driver.refuse(E.REQUEST_TIMED_OUT)
        assert answers == [InitAnswer(E.COORDINATOR_NOT_AVAILABLE)]
        assert (driver.state, driver.identity) == (S.ONGOING, (FIRST_ID, 1))
        assert driver.ask_end(commit=True, who=(FIRST_ID, 0)) == [E.PRODUCER_FENCED]
    driver.commits_at_once = True
    assert driver.init() == CONCURRENT
    driver.finish()
    assert driver.init() == (NONE, FIRST_ID, 2)
    driver.ask_add(("orders", 0))
    driver.init()
    assert driver.identity == (FIRST_ID, 3)  # the next fence takes one again


@pytest.mark.parametrize("state", IDLE)
def test_a_producer_that_goes_on_gets_the_next_epoch(state: TransactionState) -> None:
    driver = in_state(state)
    assert driver.init((FIRST_ID, 0)) == (NONE, FIRST_ID, 1)
    assert driver.transaction.last_epoch == 0


def test_a_producer_that_did_not_hear_gets_the_same_epoch_again() -> None:
    driver = Driver()
    driver.init()
    for _ in range(3):
        assert driver.init((FIRST_ID, 0)) == (NONE, FIRST_ID, 1)


def test_a_producer_that_another_one_overtook_is_fenced() -> None:
    driver = Driver()
    driver.init()
    driver.init((FIRST_ID, 0))
    assert driver.init() == (NONE, FIRST_ID, 2)  # another, that expects nothing
    assert driver.init((FIRST_ID, 0)) == FENCED
    assert driver.init((FIRST_ID, 1)) == FENCED
    assert driver.init((FIRST_ID, 3)) == FENCED
    assert driver.init((FIRST_ID + 1, 2)) == FENCED
    assert driver.init((FIRST_ID, 2)) == (NONE, FIRST_ID, 3)


def test_a_producer_that_is_fenced_disturbs_no_transaction() -> None:
    driver = Driver().begun()
    assert driver.init((FIRST_ID + 1, 0)) == FENCED
    assert driver.state is S.ONGOING


def test_a_producer_in_a_transaction_has_it_aborted_and_is_fenced_itself_as_in_kafka() -> None:
    driver = Driver().begun()
    assert driver.init((FIRST_ID, 0)) == CONCURRENT
    driver.finish()
    assert driver.init((FIRST_ID, 0)) == FENCED


def test_a_producer_of_an_id_that_was_forgotten_gets_a_new_one() -> None:
    driver = Driver()
    assert driver.init((1, 5)) == (NONE, FIRST_ID, 0)


def test_the_last_epoch_is_given_and_after_it_a_new_producer_id() -> None:
    driver = with_epoch(LAST_EPOCH - 1)
    assert not driver.transaction.needs_producer_id(None)
    assert driver.init() == (NONE, FIRST_ID, LAST_EPOCH)
    assert LAST_EPOCH == 32766
    assert driver.transaction.needs_producer_id(None)
    assert driver.init(new_producer_id=NEW_ID) == (NONE, NEW_ID, 0)
    assert driver.transaction.last_epoch == -1


def test_the_epoch_above_the_last_is_kept_for_the_fence() -> None:
    driver = with_epoch(LAST_EPOCH)
    driver.ask_add(("orders", 0))
    assert not driver.transaction.needs_producer_id(None)
    assert driver.init() == CONCURRENT
    assert driver.identity == (FIRST_ID, 32767)
    driver.finish()
    assert driver.transaction.needs_producer_id(None)
    assert driver.init(new_producer_id=NEW_ID) == (NONE, NEW_ID, 0)


def test_a_producer_that_did_not_hear_of_its_new_id_hears_it_again() -> None:
    driver = with_epoch(LAST_EPOCH)
    old = (FIRST_ID, LAST_EPOCH)
    assert driver.transaction.needs_producer_id(ProducerIdentity(*old))
    assert driver.init(old, new_producer_id=NEW_ID) == (NONE, NEW_ID, 0)
    assert not driver.transaction.needs_producer_id(ProducerIdentity(*old))
    assert driver.init(old) == (NONE, NEW_ID, 0)
    assert driver.init((FIRST_ID, LAST_EPOCH - 1)) == FENCED
    driver.init()
    assert driver.init(old) == FENCED


def test_with_the_last_epoch_a_producer_that_did_not_hear_of_it_is_told() -> None:
    driver = with_epoch(LAST_EPOCH - 1)
    expected = (FIRST_ID, LAST_EPOCH - 1)
    assert driver.init(expected) == (NONE, FIRST_ID, LAST_EPOCH)
    assert not driver.transaction.needs_producer_id(ProducerIdentity(*expected))
    assert driver.init(expected) == (NONE, FIRST_ID, LAST_EPOCH)
    assert driver.init((FIRST_ID, 5)) == FENCED


def test_who_comes_before_is_forgotten_by_a_coordinator_that_loads() -> None:
    driver = Driver()
    driver.init()
    driver.init((FIRST_ID, 0))
    fresh = driver.reload()
    assert fresh.init((FIRST_ID, 0)) == FENCED
    assert fresh.init((FIRST_ID, 1)) == (NONE, FIRST_ID, 2)


@pytest.mark.parametrize(
    ("refusal", "heard"),
    [
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
        (E.REQUEST_TIMED_OUT, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.RECORD_LIST_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.INVALID_REQUIRED_ACKS, E.INVALID_REQUIRED_ACKS),
    ],
)
def test_a_log_that_refuses_leaves_all_as_it_was(refusal: ErrorCode, heard: ErrorCode) -> None:
    driver = Driver()
    driver.commits_at_once = False
    asked = [driver.ask_init()]
    driver.refuse(refusal)
    assert driver.identity == (FIRST_ID, -1)
    driver.commits_at_once = True
    driver.begun()
    driver.commits_at_once = False
    added = driver.ask_add(("more", 1))
    driver.refuse(refusal)
    ended = driver.ask_end(commit=True)
    driver.refuse(refusal)
    assert (asked, added, ended) == ([[InitAnswer(heard)]], [heard], [heard])
    assert (driver.state, len(driver.transaction.partitions)) == (S.ONGOING, 3)
    driver.commits_at_once = True
    assert driver.ask_end(commit=True) == [NONE]
