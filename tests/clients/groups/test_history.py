"""The checks themselves: they find what they are for, and nothing else."""

from __future__ import annotations

from tests.clients.groups.history import Event, History

ZERO, ONE = ("topic", 0), ("topic", 1)


def test_one_after_the_other_may_own_a_partition() -> None:
    history = History(
        [
            Event("a", "assigned", (ZERO, ONE), generation=1),
            Event("a", "revoked", (ONE,)),
            Event("b", "assigned", (ONE,), generation=2),
        ]
    )
    assert history.owned_by_two() == []
    assert history.two_in_one_generation() == []
    assert history.owned() == {"a": {ZERO}, "b": {ONE}}


def test_two_owners_at_a_time_are_found() -> None:
    history = History(
        [
            Event("a", "assigned", (ZERO, ONE), generation=1),
            Event("b", "assigned", (ONE,), generation=1),
        ]
    )
    assert len(history.owned_by_two()) == 1
    assert len(history.two_in_one_generation()) == 1


def test_what_is_told_late_may_come_after_what_follows_from_it() -> None:
    taken = [
        Event("a", "assigned", (ZERO,)),
        Event("b", "assigned", (ZERO,)),
        Event("b", "read", (ZERO,), (5,)),
    ]
    late = [*taken, Event("a", "revoked", (ZERO,))]
    assert History(late).owned_by_two(is_told_late=True) == []
    assert len(History(late).owned_by_two()) == 1
    too_late = [*taken, Event("b", "revoked", (ZERO,)), Event("a", "revoked", (ZERO,))]
    assert len(History(too_late).owned_by_two(is_told_late=True)) == 1
    assert len(History(taken).owned_by_two(is_told_late=True)) == 1


def test_who_is_gone_or_leaving_owns_nothing() -> None:
    history = History(
        [
            Event("a", "assigned", (ZERO,)),
            Event("a", "gone"),
            Event("b", "assigned", (ZERO,)),
            Event("b", "closing"),
            Event("b", "assigned", (ZERO,)),
            Event("c", "assigned", (ZERO,)),
            Event("b", "closed"),
        ]
    )
    assert history.owned_by_two() == []
    assert history.owned() == {"c": {ZERO}}


def test_a_reader_of_what_another_owns_is_found_unless_it_is_gone() -> None:
    taken = [Event("a", "assigned", (ZERO,)), Event("b", "assigned", (ONE,))]
    reading = Event("b", "read", (ZERO,), (5,))
    assert len(History([*taken, reading]).read_by_others()) == 1
    assert History([*taken, Event("b", "gone"), reading]).read_by_others() == []


def test_what_is_read_twice_is_found() -> None:
    history = History([Event("a", "read", (ZERO,), (5, 6)), Event("b", "read", (ZERO,), (6, 7))])
    assert history.read_twice() == [("topic", 0, 6)]


def test_giving_up_all_for_a_part_is_found() -> None:
    assigned = Event("a", "assigned", (ZERO, ONE))
    assert History([assigned, Event("a", "revoked", (ONE,))]).given_up_in_vain("a") == []
    assert len(History([assigned, Event("a", "revoked", (ZERO, ONE))]).given_up_in_vain("a")) == 1


def test_the_last_commit_counts() -> None:
    events = [Event("a", "committed", (ZERO, ONE), (5, 6)), Event("b", "committed", (ZERO,), (9,))]
    assert History(events).committed() == {ZERO: 9, ONE: 6}
