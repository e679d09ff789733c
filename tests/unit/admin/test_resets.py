"""Where a group shall go on: each way to say it, within what the partition holds."""

from __future__ import annotations

import pytest

from ottla.admin.cluster import TopicPartition
from ottla.admin.resets import BadReset, Kind, Move, Target, plan, read_offsets, write_offsets
from tests.unit.admin.groups import ScriptedGroup

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)
COMMITTED = {FIRST: 40, SECOND: 100}


def planned(target: Target | dict[TopicPartition, int]) -> list[Move]:
    """Both partitions hold 10 to 99, each record a second after the one before it."""
    return ScriptedGroup().cluster.run(
        lambda cluster: plan(cluster, [FIRST, SECOND], COMMITTED, target)
    )


@pytest.mark.parametrize(
    ("target", "after"),
    [
        (Target(Kind.EARLIEST), [10, 10]),
        (Target(Kind.LATEST), [100, 100]),
        (Target(Kind.OFFSET, 50), [50, 50]),
        (Target(Kind.OFFSET, 5), [10, 10]),
        (Target(Kind.OFFSET, 500), [100, 100]),
        (Target(Kind.SHIFT, 20), [60, 100]),
        (Target(Kind.SHIFT, -35), [10, 65]),
        (Target(Kind.TIME, 70_000), [70, 70]),
        (Target(Kind.TIME, 700_000), [100, 100]),
        ({FIRST: 11, SECOND: 0}, [11, 10]),
    ],
)
def test_each_way_to_say_where_to(
    target: Target | dict[TopicPartition, int], after: list[int]
) -> None:
    moves = planned(target)
    assert [move.after for move in moves] == after
    assert [move.before for move in moves] == [40, 100]
    assert [move.lag_after for move in moves] == [100 - each for each in after]


def test_what_was_wanted_is_kept_beside_what_is_possible() -> None:
    first, second = planned(Target(Kind.SHIFT, 20))
    assert (first.wanted, second.wanted) == (60, 120)


def test_nothing_can_be_shifted_from_nowhere() -> None:
    with pytest.raises(BadReset, match="orders-1 has no committed offset that could be shifted"):
        ScriptedGroup().cluster.run(
            lambda cluster: plan(cluster, [SECOND], {}, Target(Kind.SHIFT, 1))
        )


def test_a_file_names_offsets_with_or_without_the_group() -> None:
    lines = ["orders,0,5\n", "\n", "billing, orders, 1, 7\n", "audit,orders,0,99\n"]
    assert read_offsets(lines, "billing") == {FIRST: 5, SECOND: 7}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["orders,0,5", "orders,x,5"], "line 2 is not topic,partition,offset: orders,x,5"),
        (["orders,0"], "line 1 is not topic,partition,offset"),
        (["orders,0,-5"], "line 1 is not topic,partition,offset"),
        (["audit,orders,0,99"], "there is no offset for the group 'billing' in it"),
    ],
)
def test_a_file_that_says_no_offsets_is_refused(lines: list[str], why: str) -> None:
    with pytest.raises(BadReset) as refused:
        read_offsets(lines, "billing")
    assert why in str(refused.value)


def test_what_is_exported_can_be_read_again() -> None:
    exported = write_offsets(planned(Target(Kind.OFFSET, 50)))
    assert exported == "orders,0,50\norders,1,50\n"
    assert read_offsets(exported.splitlines(), "billing") == {FIRST: 50, SECOND: 50}
