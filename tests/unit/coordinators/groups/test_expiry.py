"""KIP-211: from when on an offset's retention runs, in every state of its group."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.expiry import expired
from ottla.coordinators.groups.offsets import Offsets
from ottla.coordinators.groups.records import CommittedOffset, offset_value
from ottla.coordinators.groups.state import GroupState

PLACE: TopicPartition = ("orders", 0)
RETENTION_MS = 1_000


class Known(NamedTuple):
    """Of a group, what expiry asks."""

    state: GroupState
    protocol_type: str | None
    state_changed_ms: int | None = None
    subscribed_topics: frozenset[str] | None = None


def offsets(*, commit_ms: int = 0, expire_ms: int | None = None) -> Offsets:
    found = Offsets()
    value = offset_value(CommittedOffset(5, -1, "", commit_ms, expire_ms))
    found.apply(PLACE, value, position=0)
    return found


def is_expired(group: Known, now_ms: int, known: Offsets | None = None) -> bool:
    places = expired(known or offsets(), group, now_ms=now_ms, retention_ms=RETENTION_MS)
    return places == [PLACE]


def test_offsets_of_who_only_stores_them_expire_after_the_last_commit() -> None:
    simple = Known(GroupState.EMPTY, None, state_changed_ms=900)
    assert not is_expired(simple, 999)
    assert is_expired(simple, 1_000)
    assert not is_expired(simple, 1_000, offsets(commit_ms=1))


def test_offsets_of_an_empty_group_expire_after_it_became_empty_however_old_they_are() -> None:
    empty = Known(GroupState.EMPTY, "consumer", state_changed_ms=500)
    assert not is_expired(empty, 1_499)
    assert is_expired(empty, 1_500)


def test_a_group_too_old_to_know_when_it_became_empty_counts_from_the_commit() -> None:
    empty = Known(GroupState.EMPTY, "consumer", state_changed_ms=None)
    assert not is_expired(empty, 999)
    assert is_expired(empty, 1_000)


def test_a_stable_consumer_group_keeps_what_it_reads_and_loses_what_it_reads_no_more() -> None:
    for topics, expires in ((frozenset({"orders"}), False), (frozenset({"payments"}), True)):
        stable = Known(GroupState.STABLE, "consumer", 0, topics)
        assert is_expired(stable, 1_000) is expires
        assert not is_expired(stable, 999)


@pytest.mark.parametrize(
    "group",
    [
        Known(GroupState.STABLE, "consumer", 0, None),  # what it reads cannot be known
        Known(GroupState.STABLE, "connect", 0, None),
        Known(GroupState.PREPARING_REBALANCE, "consumer", 0, frozenset()),
        Known(GroupState.COMPLETING_REBALANCE, "consumer", 0, frozenset()),
    ],
)
def test_other_groups_lose_nothing(group: Known) -> None:
    assert not is_expired(group, 1_000_000)
    assert not is_expired(group, 1_000_000, offsets(expire_ms=5))


def test_an_offset_with_its_own_time_expires_then_and_not_before() -> None:
    empty = Known(GroupState.EMPTY, "consumer", state_changed_ms=0)
    own = offsets(expire_ms=5_000)
    assert not is_expired(empty, 4_999, own)
    assert is_expired(empty, 5_000, own)
    assert is_expired(Known(GroupState.EMPTY, "consumer", 4_999), 5_000, own)


def test_an_offset_of_which_a_commit_is_on_its_way_stays() -> None:
    known = offsets()
    known.stage(PLACE)
    assert not is_expired(Known(GroupState.EMPTY, None), 1_000_000, known)
