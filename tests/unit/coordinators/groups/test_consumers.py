"""What is read out of consumers' own bytes, and what is not."""

from __future__ import annotations

from ottla.coordinators.groups.consumers import (
    assigned_partitions,
    subscribed_topics,
    wants_the_same,
)
from tests.unit.coordinators.groups.driver import assignment, owning, subscription

ORDERS = subscription("orders")


def test_the_topics_of_several_subscriptions_are_joined() -> None:
    assert subscribed_topics([ORDERS, subscription("a", "orders")]) == frozenset({"a", "orders"})
    assert subscribed_topics([]) == frozenset()


def test_bytes_of_others_are_nobodys_subscription_and_no_error() -> None:
    for data in (
        b"",
        b"\x00",
        b"\x00\x00",
        b"\x00\x00\x00\x00\x00\x09",
        b"\x00\x00\xff\xff\xff\xff",
    ):
        assert subscribed_topics([ORDERS, data]) is None
        assert list(assigned_partitions(data)) == []


def test_assigned_partitions_are_named_one_by_one() -> None:
    data = assignment(orders=[0, 2], payments=[1])
    assert list(assigned_partitions(data)) == [("orders", 0), ("orders", 2), ("payments", 1)]


def test_what_a_consumer_owns_is_not_what_it_wants() -> None:
    before = (("range", ORDERS), ("sticky", ORDERS))
    after = (("range", owning(ORDERS, orders=[3])), ("sticky", owning(ORDERS, orders=[3])))
    assert wants_the_same(before, after, protocol_type="consumer")
    assert not wants_the_same(before, after, protocol_type="connect")
    assert not wants_the_same(before, after[::-1], protocol_type="consumer")
    assert not wants_the_same(
        before[:1], (("range", subscription("more")),), protocol_type="consumer"
    )
    assert not wants_the_same((("own", b"x"),), (("own", b"y"),), protocol_type="consumer")
