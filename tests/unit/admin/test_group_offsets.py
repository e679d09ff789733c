"""A group's offsets: read, set from outside, and forgotten."""

from __future__ import annotations

from ottla.admin import group_offsets
from ottla.admin.cluster import TopicPartition
from ottla.protocol.errors import ErrorCode
from tests.unit.admin.groups import ScriptedGroup

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


def test_all_offsets_are_read_and_what_was_never_committed_is_none() -> None:
    group = ScriptedGroup()
    group.offsets = {("orders", 1): 7, ("orders", 0): 5, ("payments", 0): -1}
    found = group.cluster.run(lambda cluster: group_offsets.committed(cluster, "billing"))
    assert [(each, one.offset) for each, one in found.items()] == [(FIRST, 5), (SECOND, 7)]


def test_offsets_are_set_by_somebody_who_is_no_member() -> None:
    group = ScriptedGroup()
    results = group.cluster.run(
        lambda cluster: group_offsets.commit(cluster, "billing", {FIRST: 12, SECOND: 13})
    )
    assert results == {FIRST: None, SECOND: None}
    assert group.offsets == {FIRST: 12, SECOND: 13}


def test_a_refused_offset_is_told_for_its_partition() -> None:
    group = ScriptedGroup()
    group.refuse = ErrorCode.UNKNOWN_MEMBER_ID
    results = group.cluster.run(
        lambda cluster: group_offsets.commit(cluster, "billing", {FIRST: 12})
    )
    refused = results[FIRST]
    assert refused is not None
    assert refused.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_are_forgotten_one_by_one() -> None:
    group = ScriptedGroup()
    group.refuse = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    results = group.cluster.run(
        lambda cluster: group_offsets.forget(cluster, "billing", [FIRST, SECOND])
    )
    assert [None if each is None else each.code for each in results.values()] == [
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    ] * 2
