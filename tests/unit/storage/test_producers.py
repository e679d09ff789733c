"""Producers by hand; what Kafka says to random ones is in test_kafka_answers.py."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import TRANSACTIONAL_BIT, BatchHeader
from ottla.storage.producer import Duplicate
from ottla.storage.producers import ProducerStates
from ottla.storage.transactions import CompletedTransaction

LARGEST = 2147483647


def batch(
    sequence: int, *, epoch: int = 0, count: int = 1, producer_id: int = 1, is_open: bool = False
) -> BatchHeader:
    attributes = TRANSACTIONAL_BIT * is_open
    return BatchHeader(
        0, 100, 0, 2, 0, attributes, count - 1, 0, 0, producer_id, epoch, sequence, count
    )


def send(states: ProducerStates, header: BatchHeader, at: int, *, from_client: bool = True) -> None:
    assert states.check(header, from_client=from_client) is None
    states.append(header, base_offset=at, max_timestamp=at + 100)


def end(
    states: ProducerStates, at: int, *, producer_id: int = 1, epoch: int = 0, abort: bool = False
) -> CompletedTransaction | None:
    return states.end_transaction(
        producer_id=producer_id,
        producer_epoch=epoch,
        coordinator_epoch=5,
        offset=at,
        timestamp=at + 100,
        is_aborted=abort,
    )


def refused(states: ProducerStates, header: BatchHeader, *, from_client: bool = True) -> ErrorCode:
    with pytest.raises(KafkaError) as refusal:
        states.check(header, from_client=from_client)
    return refusal.value.code


def test_an_unknown_producer_may_start_anywhere() -> None:
    states = ProducerStates()
    send(states, batch(7, count=3), 0)
    assert refused(states, batch(11)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(states, batch(10), 3)


def test_a_batch_that_comes_again_is_known_while_it_is_one_of_the_last_five() -> None:
    states = ProducerStates()
    for sequence in range(0, 12, 2):
        send(states, batch(sequence, count=2), 50 + sequence)
    for sequence in range(2, 12, 2):
        found = states.check(batch(sequence, count=2), from_client=True)
        assert found == Duplicate(50 + sequence, 51 + sequence, 150 + sequence)
    assert refused(states, batch(0, count=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(states, batch(4, count=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_after_the_largest_sequence_comes_zero() -> None:
    states = ProducerStates()
    send(states, batch(LARGEST - 1, count=2), 0)
    assert refused(states, batch(1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(states, batch(0), 2)
    states = ProducerStates()
    send(states, batch(LARGEST - 1, count=4), 0)
    assert states.check(batch(LARGEST - 1, count=4), from_client=True) == Duplicate(0, 3, 100)
    send(states, batch(2), 4)


def test_a_new_epoch_starts_at_sequence_zero_and_fences_the_old_one() -> None:
    states = ProducerStates()
    send(states, batch(0), 0)
    assert refused(states, batch(1, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(states, batch(0, epoch=1), 1)
    assert refused(states, batch(1, epoch=0)) is ErrorCode.INVALID_PRODUCER_EPOCH
    # The same sequence in an older epoch is fenced, not known again.
    assert refused(states, batch(0, epoch=0)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_coordinators_batch_has_no_sequence_to_check_but_an_epoch() -> None:
    states = ProducerStates()
    send(states, batch(0, epoch=1), 0)
    send(states, batch(0, epoch=1), 1, from_client=False)
    old = refused(states, batch(0, epoch=0), from_client=False)
    assert old is ErrorCode.INVALID_PRODUCER_EPOCH


def test_what_was_replicated_is_taken_as_it_is() -> None:
    states = ProducerStates()
    states.append(batch(0, epoch=2), base_offset=0, max_timestamp=9)
    states.append(batch(44, epoch=1), base_offset=1, max_timestamp=9)
    state = states.get(1)
    assert state is not None
    assert (state.epoch, state.last_sequence, len(state.batches)) == (1, 44, 1)


def test_only_transactional_batches_may_come_during_a_transaction() -> None:
    states = ProducerStates()
    send(states, batch(0, is_open=True), 0)
    assert refused(states, batch(1)) is ErrorCode.INVALID_TXN_STATE
    send(states, batch(1, is_open=True), 1)
    assert end(states, 2) == CompletedTransaction(1, 0, 2, False, 3)
    send(states, batch(2), 3)


def test_a_marker_with_an_old_epoch_is_fenced() -> None:
    states = ProducerStates()
    send(states, batch(0, epoch=3, is_open=True), 0)
    assert end(states, 1, epoch=3) is not None
    for epoch, coordinator_epoch, code in (
        (2, 5, ErrorCode.INVALID_PRODUCER_EPOCH),
        (3, 4, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
    ):
        with pytest.raises(KafkaError) as refusal:
            states.check_marker(
                producer_id=1, producer_epoch=epoch, coordinator_epoch=coordinator_epoch
            )
        assert refusal.value.code is code
    states.check_marker(producer_id=1, producer_epoch=4, coordinator_epoch=5)
    states.check_marker(producer_id=2, producer_epoch=0, coordinator_epoch=0)


def test_after_a_marker_with_a_new_epoch_sequences_start_again() -> None:
    states = ProducerStates()
    send(states, batch(0, is_open=True), 0)
    assert end(states, 1, epoch=1, abort=True) == CompletedTransaction(1, 0, 1, True, 2)
    assert refused(states, batch(1, epoch=0)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused(states, batch(1, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(states, batch(0, epoch=1), 2)


def test_a_marker_without_a_transaction_completes_nothing() -> None:
    states = ProducerStates()
    assert end(states, 0) is None
    assert end(states, 1) is None
    assert states.first_unstable_offset(0) is None


def test_the_stable_offset_waits_for_the_first_open_transaction_and_its_replication() -> None:
    states = ProducerStates()
    for producer_id, offset in ((1, 0), (2, 1), (3, 2)):
        send(states, batch(0, producer_id=producer_id, is_open=True), offset)
    assert states.last_stable_offset(3) == 0
    assert states.last_stable_offset(3, log_start_offset=2) == 2
    # What is stable is told by the others that are open, not by those that are done.
    completed = [end(states, offset, producer_id=id_) for offset, id_ in ((3, 1), (4, 3), (5, 2))]
    assert [each.last_stable_offset for each in completed if each] == [1, 1, 6]
    assert [states.last_stable_offset(mark) for mark in (0, 3, 4, 5, 6)] == [0, 0, 1, 1, 6]
    for mark, first in ((3, 0), (4, 1), (5, 1), (6, None)):
        states.on_high_watermark_updated(mark)
        assert states.first_unstable_offset(mark) == first


def test_an_idle_producer_is_forgotten_but_not_its_transaction() -> None:
    states = ProducerStates()
    send(states, batch(0), 0)
    send(states, batch(0, producer_id=2, is_open=True), 0)
    assert states.remove_expired(now_ms=1099, expiration_ms=1000) == 0
    assert states.remove_expired(now_ms=1100, expiration_ms=1000) == 1
    assert [state.producer_id for state in states.active_producers()] == [2]
    send(states, batch(99), 1)


def test_a_cut_into_the_known_asks_for_a_rebuild() -> None:
    states = ProducerStates()
    send(states, batch(0, is_open=True), 0)
    end(states, 1)
    assert not states.truncate(log_start_offset=0, log_end_offset=2)
    assert states.first_unstable_offset(0) == 0
    assert not states.truncate(log_start_offset=2, log_end_offset=9)
    assert states.first_unstable_offset(0) is None
    assert states.truncate(log_start_offset=0, log_end_offset=1)
    assert states.active_producers() == []
    assert states.end_offset == 0


def test_taken_back_appends_never_were() -> None:
    states = ProducerStates()
    send(states, batch(0), 0)
    states.begin()
    send(states, batch(1), 1)
    send(states, batch(0, producer_id=2, is_open=True), 2)
    assert states.check(batch(1), from_client=True) == Duplicate(1, 1, 101)
    states.rollback()
    assert states.get(2) is None
    assert states.first_unstable_offset(0) is None
    assert states.end_offset == 1
    states.begin()
    send(states, batch(1), 1)
    states.commit()
    send(states, batch(2), 2)


def test_what_is_replicated_meanwhile_stays_so_when_a_group_is_taken_back() -> None:
    states = ProducerStates()
    send(states, batch(0, is_open=True), 0)
    end(states, 1)
    states.begin()
    send(states, batch(1, is_open=True), 2)
    states.on_high_watermark_updated(2)
    states.rollback()
    assert states.first_unstable_offset(0) is None
