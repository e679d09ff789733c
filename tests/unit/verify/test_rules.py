"""Small histories: what is known, what is in doubt, and what is held against nobody."""

from __future__ import annotations

import pytest

from ottla.verify.checker import check
from ottla.verify.encoding import BadHistory
from ottla.verify.findings import Kind
from ottla.verify.history import (
    Assigned,
    Began,
    Ended,
    Event,
    Fenced,
    FinalRead,
    History,
    Initialized,
    Isolation,
    OffsetsCommitted,
    OffsetsFetched,
    OffsetsSent,
    Outcome,
    Read,
    Sent,
    Source,
    TopicPartition,
)

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
OUT = TopicPartition("shipped", 0)
UNKNOWN, FAILED = Outcome.UNKNOWN, Outcome.FAILED


def kinds(*events: Event, has_one_clock: bool = True) -> list[Kind]:
    return list(check(History(events, has_one_clock)).counts)


def began(name: str = "t", client: str = "p", at: int = 10) -> Began:
    return Began(client, "id", name, at)


def sent(
    value: str,
    offset: int | None = 0,
    partition: TopicPartition = P0,
    *,
    name: str | None = "t",
    client: str = "p",
    at: int = 11,
    outcome: Outcome = Outcome.OK,
    source: Source | None = None,
) -> Sent:
    return Sent(client, partition, value, at, at + 1, name, outcome, offset, source)


def commit(
    outcome: Outcome = Outcome.OK, at: int = 20, *, name: str = "t", client: str = "p"
) -> Ended:
    return Ended(client, name, True, at, at + 1, outcome)


def abort(outcome: Outcome = Outcome.OK, at: int = 20) -> Ended:
    return Ended("p", "t", False, at, at + 1, outcome)


def left(*values: str, partition: TopicPartition = P0) -> FinalRead:
    return FinalRead(partition, Isolation.READ_COMMITTED, tuple(enumerate(values)))


def initialized(client: str, asked: int, answered: int) -> Initialized:
    return Initialized(client, "id", asked, answered)


TWO = (began(), sent("a"), sent("b", partition=P1))


@pytest.mark.parametrize("outcome", [UNKNOWN, FAILED])
def test_a_transaction_that_is_surely_or_perhaps_not_committed_may_be_absent(
    outcome: Outcome,
) -> None:
    assert kinds(*TWO, commit(outcome), left(), left(partition=P1)) == []


def test_one_in_doubt_may_be_whole() -> None:
    assert kinds(*TWO, commit(UNKNOWN), left("a"), left("b", partition=P1)) == []


def test_one_in_doubt_may_not_be_half() -> None:
    found = kinds(*TWO, commit(UNKNOWN), left("a"), left(partition=P1))
    assert found == [Kind.TORN_TRANSACTION]


def test_one_in_doubt_that_a_consumer_saw_took_place() -> None:
    seen = Read("c", P0, 0, "a", 30)
    found = kinds(*TWO, commit(UNKNOWN), seen, left(), left(partition=P1))
    assert found == [Kind.TORN_TRANSACTION]


def test_a_commit_that_surely_failed_shows_nothing() -> None:
    assert kinds(*TWO, commit(FAILED), left("a")) == [Kind.ABORTED_READ]


def test_a_commit_in_doubt_and_an_abort_that_succeeded_is_an_abort() -> None:
    assert kinds(*TWO, commit(UNKNOWN), abort(at=30), left("a")) == [Kind.ABORTED_READ]


def test_part_of_a_committed_one_missing_is_a_loss_and_a_tear() -> None:
    found = kinds(*TWO, commit(), left("a"), left(partition=P1))
    assert found == [Kind.LOST_WRITE, Kind.TORN_TRANSACTION]


def test_a_committed_one_all_missing_is_a_loss() -> None:
    assert kinds(*TWO, commit(), left(), left(partition=P1)) == [Kind.LOST_WRITE]


def test_a_send_in_doubt_of_a_committed_one_may_be_there_or_not() -> None:
    doubtful = (began(), sent("a"), sent("b", None, outcome=UNKNOWN), commit())
    assert kinds(*doubtful, left("a")) == []
    assert kinds(*doubtful, left("a", "b")) == []


def test_what_was_acknowledged_outside_of_transactions_is_there() -> None:
    assert kinds(sent("a", name=None), left()) == [Kind.LOST_WRITE]
    assert kinds(sent("a", name=None), left("a")) == []


def test_one_that_was_never_ended_is_a_dirty_read() -> None:
    assert kinds(began(), sent("a"), left("a")) == [Kind.DIRTY_READ]


def test_a_read_before_the_commit_is_dirty_only_by_one_clock() -> None:
    early = (began(), sent("a"), Read("c", P0, 0, "a", 19), commit(at=20))
    assert kinds(*early) == [Kind.DIRTY_READ]
    assert kinds(*early, has_one_clock=False) == []


def test_a_read_while_the_commit_is_on_its_way_is_fine() -> None:
    assert kinds(began(), sent("a"), Read("c", P0, 0, "a", 20), commit(at=20)) == []


def test_a_producer_fenced_before_it_asked_cannot_commit() -> None:
    fenced = (initialized("p", 1, 2), began(), sent("a"), initialized("q", 13, 15))
    assert kinds(*fenced, commit(UNKNOWN, at=16), left("a")) == [Kind.ABORTED_READ]
    assert kinds(*fenced, commit(at=16), left("a")) == [Kind.ZOMBIE]
    assert kinds(*fenced, commit(UNKNOWN, at=14), left("a")) == []
    assert kinds(*fenced, commit(at=14), left("a")) == []


def test_who_took_the_id_at_the_same_time_may_have_been_first() -> None:
    crossed = (initialized("p", 1, 5), initialized("q", 2, 12), began(at=10), sent("a", at=13))
    assert kinds(*crossed, commit(at=20), left("a")) == []


def test_who_heard_that_it_is_fenced_never_succeeds_again() -> None:
    heard = (initialized("p", 1, 2), began(), Fenced("p", "id", 12))
    assert kinds(*heard, sent("a", at=13)) == [Kind.ZOMBIE]
    offsets = OffsetsSent("p", "t", "g", ((P0, 1),), 13, 14)
    assert kinds(*heard, offsets) == [Kind.ZOMBIE]
    assert kinds(*heard, initialized("p", 13, 14), began("u", at=15), commit(name="u")) == []


def test_both_ends_cannot_succeed() -> None:
    assert kinds(began(), commit(at=20), abort(at=30)) == [Kind.CONTRADICTION]


def test_a_record_sent_later_stands_later() -> None:
    order = (sent("a", 1, name=None, at=1), sent("b", 0, name=None, at=3))
    assert kinds(*order) == [Kind.REORDERED]
    other = sent("b", 0, name=None, at=3, client="another")
    assert kinds(order[0], other) == []


def test_without_a_final_read_a_consumer_must_find_what_was_acknowledged() -> None:
    assigned = Assigned("c", ((P0, 0),), 30)
    two = (sent("a", 0, name=None, at=1), sent("b", 1, name=None, at=3))
    assert kinds(*two, assigned, Read("c", P0, 1, "b", 31)) == [Kind.MISSED_READ]
    assert kinds(*two, Read("c", P0, 1, "b", 31)) == []
    unknown = Assigned("c", ((P0, -1),), 30)
    assert kinds(*two, unknown, Read("c", P0, 1, "b", 31)) == []


def offsets_in(name: str, offset: int, at: int, outcome: Outcome = Outcome.OK) -> tuple[Event, ...]:
    """A transaction that sends offsets, and a record that shows whether it took place."""
    return (
        fetched(-1, 0),
        began(name, at=at),
        sent(f"of {name}", None, P1, name=name, at=at + 1),
        OffsetsSent("p", name, "g", ((P0, offset),), at + 2, at + 3),
        commit(outcome, at + 4, name=name),
    )


def fetched(offset: int, at: int, *, is_stable: bool = True) -> OffsetsFetched:
    return OffsetsFetched("x", "g", ((P0, offset),), at, at + 1, is_stable)


def test_what_a_group_had_before_the_history_is_held_against_nobody() -> None:
    assert kinds(*offsets_in("t", 5, 10)[1:], fetched(3, 5)) == []
    assert kinds(*offsets_in("t", 5, 10)[1:], fetched(5, 5)) == []


def test_offsets_share_the_fate_of_their_transaction() -> None:
    one = offsets_in("t", 5, 10)
    assert kinds(*one, fetched(5, 30)) == []
    assert kinds(*one, fetched(-1, 30)) == [Kind.OFFSETS_BACKWARDS]
    assert kinds(*one, fetched(-1, 30, is_stable=False)) == []
    assert kinds(*one, fetched(-1, 5)) == []
    assert kinds(*one, fetched(5, 5)) == [Kind.DIRTY_READ]


def test_offsets_of_one_in_doubt_show_if_its_records_do() -> None:
    one = offsets_in("t", 5, 10, UNKNOWN)
    shown, hidden = left("of t", partition=P1), left(partition=P1)
    assert kinds(*one, shown, fetched(5, 30)) == []
    assert kinds(*one, hidden, fetched(-1, 30)) == []
    assert kinds(*one, shown, fetched(-1, 30)) == [Kind.TORN_TRANSACTION]
    assert kinds(*one, hidden, fetched(5, 30)) == [Kind.TORN_TRANSACTION]
    assert kinds(*one, fetched(5, 30), fetched(-1, 35)) == []


def test_offsets_of_transactions_never_go_back() -> None:
    found = kinds(*offsets_in("t", 5, 10), *offsets_in("u", 4, 20))
    assert found == [Kind.OFFSETS_BACKWARDS]
    assert kinds(*offsets_in("t", 5, 10), *offsets_in("u", 6, 20)) == []


def committed(offset: int, at: int, outcome: Outcome = Outcome.OK) -> OffsetsCommitted:
    return OffsetsCommitted("c", "g", ((P0, offset),), at, at + 5, outcome)


def test_a_fetch_may_hear_any_commit_that_was_on_its_way() -> None:
    both = (committed(5, 10), committed(3, 12))
    assert kinds(*both, fetched(5, 30)) == []
    assert kinds(*both, fetched(3, 30)) == []
    assert kinds(*both, fetched(2, 30)) == [Kind.OFFSETS_BACKWARDS]
    assert kinds(*both, fetched(9, 30)) == [Kind.INVENTED]


def test_a_fetch_hears_the_last_commit_before_it() -> None:
    two = (committed(3, 10), committed(5, 20))
    assert kinds(*two, fetched(3, 30)) == [Kind.OFFSETS_BACKWARDS]
    assert kinds(*two, fetched(3, 22)) == []
    assert kinds(committed(3, 10), committed(5, 20, FAILED), fetched(3, 30)) == []
    assert kinds(committed(3, 10), committed(5, 20, UNKNOWN), fetched(3, 30)) == []
    assert kinds(committed(3, 10), committed(5, 20, UNKNOWN), fetched(5, 30)) == []


def loop(name: str, value: str, offset: int, *, at: int, upto: int) -> tuple[Event, ...]:
    return (
        began(name, at=at),
        sent(value, None, OUT, name=name, at=at + 1, source=Source("g", P0, offset)),
        OffsetsSent("p", name, "g", ((P0, upto),), at + 2, at + 3),
        commit(at=at + 4, name=name),
    )


INPUTS = (
    sent("i", 0, name=None, at=1, client="w"),
    sent("j", 1, name=None, at=3, client="w"),
    left("i", "j"),
)


def test_each_input_is_transformed_exactly_once() -> None:
    first, second = loop("t", "I", 0, at=10, upto=1), loop("u", "J", 1, at=20, upto=2)
    assert kinds(*INPUTS, *first, *second, left("I", "J", partition=OUT)) == []
    again = loop("u", "I again", 0, at=20, upto=1)
    found = kinds(*INPUTS, *first, *again, left("I", "I again", partition=OUT))
    assert found == [Kind.TRANSFORMED_TWICE]
    skipping = loop("t", "J", 1, at=10, upto=2)
    assert kinds(*INPUTS, *skipping, left("J", partition=OUT)) == [Kind.NOT_TRANSFORMED]


def test_an_output_is_never_there_without_its_offsets() -> None:
    short = loop("t", "J", 1, at=10, upto=1)
    found = kinds(fetched(1, 5), *INPUTS, *short, left("J", partition=OUT))
    assert found == [Kind.TORN_TRANSACTION]


def test_an_input_that_was_never_committed_is_not_transformed() -> None:
    ghost = loop("t", "X", 7, at=10, upto=8)
    found = kinds(fetched(2, 5), *INPUTS, *ghost, left("X", partition=OUT))
    assert found == [Kind.ABORTED_READ]


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ((sent("a", name=None), sent("a", name=None)), "'a' is sent twice"),
        ((sent("a"),), "transaction t is used before it begins"),
        ((commit(),), "transaction t is used before it begins"),
        ((began(), began()), "transaction t begins twice"),
    ],
)
def test_a_history_that_contradicts_itself_is_refused(events: tuple[Event, ...], why: str) -> None:
    with pytest.raises(BadHistory, match=why):
        check(History(events))
