"""A group's offsets: what is committed, what is on its way, what a transaction may still change."""

from __future__ import annotations

from ottla.coordinators.groups.answers import FetchedOffset, TopicPartition
from ottla.coordinators.groups.offsets import Offsets, nothing_committed
from ottla.coordinators.groups.records import CommittedOffset, offset_value
from ottla.protocol.errors import ErrorCode

PLACE: TopicPartition = ("orders", 0)
OTHER: TopicPartition = ("orders", 1)
NOTHING = FetchedOffset(-1, -1, "", ErrorCode.NONE)
UNSTABLE = FetchedOffset(-1, -1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)


def value(offset: int) -> bytes:
    return offset_value(CommittedOffset(offset, 7, "note", 1_000))


def offset_of(offsets: Offsets, place: TopicPartition = PLACE) -> int | None:
    found = offsets.get(place)
    return None if found is None else found.offset


def test_the_last_commit_of_a_partition_counts() -> None:
    offsets = Offsets()
    offsets.apply(PLACE, value(1), position=0)
    offsets.apply(PLACE, value(2), position=1)
    assert offsets.get(PLACE) == CommittedOffset(2, 7, "note", 1_000)
    assert offsets.fetch([PLACE, OTHER], require_stable=False) == {
        PLACE: FetchedOffset(2, 7, "note"),
        OTHER: NOTHING,
    }


def test_all_means_all_that_is_committed() -> None:
    offsets = Offsets()
    offsets.apply(PLACE, value(1), position=0)
    offsets.stage(OTHER)
    assert list(offsets.fetch(None, require_stable=False)) == [PLACE]
    assert offsets.known() == [PLACE, OTHER]


def test_a_group_that_nobody_knows_has_committed_nothing_anywhere() -> None:
    assert nothing_committed([PLACE]) == {PLACE: NOTHING}


def test_a_tombstone_removes_an_offset_and_what_a_transaction_holds_of_it() -> None:
    offsets = Offsets()
    offsets.apply(PLACE, value(1), position=0)
    offsets.begin_transactional(4, PLACE, value(2), position=1)
    offsets.apply(PLACE, None, position=2)
    offsets.end_transaction(4, committed=True)
    assert offset_of(offsets) is None
    assert not offsets


def test_while_a_commit_is_on_its_way_the_offset_is_not_stable() -> None:
    offsets = Offsets()
    offsets.apply(PLACE, value(1), position=0)
    offsets.stage(PLACE)
    offsets.stage(PLACE)
    offsets.unstage(PLACE)
    assert offsets.fetch([PLACE], require_stable=True) == {PLACE: UNSTABLE}
    assert offsets.fetch([PLACE], require_stable=False)[PLACE].offset == 1
    offsets.unstage(PLACE)
    assert offsets.fetch([PLACE], require_stable=True)[PLACE].offset == 1


def test_a_transactions_offset_counts_from_its_commit_on() -> None:
    offsets = Offsets()
    offsets.apply(PLACE, value(1), position=0)
    offsets.begin_transactional(4, PLACE, value(2), position=1)
    assert offset_of(offsets) == 1
    assert offsets.fetch([PLACE, OTHER], require_stable=True) == {PLACE: UNSTABLE, OTHER: NOTHING}
    assert offsets.producer_ids == [4]
    offsets.end_transaction(4, committed=True)
    assert offset_of(offsets) == 2
    assert offsets.producer_ids == []


def test_an_aborted_transactions_offset_never_counts() -> None:
    offsets = Offsets()
    offsets.begin_transactional(4, PLACE, value(2), position=1)
    assert offsets
    offsets.end_transaction(4, committed=False)
    assert not offsets


def test_a_plain_commit_that_came_later_in_the_log_wins_over_the_transactions() -> None:
    offsets = Offsets()
    offsets.begin_transactional(4, PLACE, value(2), position=1)
    offsets.begin_transactional(4, OTHER, value(2), position=1)
    offsets.apply(PLACE, value(3), position=2)
    offsets.end_transaction(4, committed=True)
    assert (offset_of(offsets), offset_of(offsets, OTHER)) == (3, 2)


def test_of_two_transactions_the_one_that_wrote_last_wins_in_whatever_order_they_end() -> None:
    offsets = Offsets()
    offsets.begin_transactional(4, PLACE, value(2), position=1)
    offsets.begin_transactional(5, PLACE, value(3), position=2)
    offsets.end_transaction(5, committed=True)
    offsets.end_transaction(4, committed=True)
    assert offset_of(offsets) == 3
    offsets.begin_transactional(4, PLACE, value(9), position=3)
    offsets.end_transaction(4, committed=True)
    assert offset_of(offsets) == 9
