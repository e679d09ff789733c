"""Groups are listed from all brokers, and described and deleted by their coordinator."""

from __future__ import annotations

import pytest

from ottla.admin import groups
from ottla.admin.cluster import TopicPartition
from ottla.admin.groups import UnknownGroup, read_assignment
from ottla.network.client import UnsupportedVersion
from ottla.protocol.apis import consumer_group_describe as modern
from ottla.protocol.errors import ErrorCode, KafkaError
from tests.unit.admin.cluster import ScriptedCluster
from tests.unit.admin.groups import ScriptedGroup, assignment, member

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


def test_groups_of_all_brokers_are_listed_by_name() -> None:
    found = ScriptedGroup().cluster.run(groups.list_groups)
    assert [(each.id, each.coordinator) for each in found] == [("audit", 0), ("billing", 1)]
    assert [(each.state, each.type) for each in found] == [("Empty", "Classic")] * 2
    assert [each.protocol_type for each in found] == ["", "consumer"]


def test_a_broker_without_groups_is_told_as_such() -> None:
    scripted = ScriptedCluster(versions={3: (0, 12)})
    with pytest.raises(UnsupportedVersion, match="it has no groups yet"):
        scripted.run(groups.list_groups)
    with pytest.raises(UnsupportedVersion, match="it has no groups yet"):
        scripted.run(lambda cluster: groups.describe(cluster, "billing"))


def test_states_that_an_old_broker_does_not_list_are_asked_for() -> None:
    group = ScriptedGroup(member("a", b""))
    group.cluster.brokers[1]._versions = {3: (0, 12), 16: (0, 3), 15: (0, 5), 10: (0, 3)}
    found = group.cluster.run(groups.list_groups)
    assert [(each.id, each.state) for each in found] == [("audit", "Empty"), ("billing", "Stable")]


def test_a_group_is_described_with_what_its_members_hold() -> None:
    held = assignment({"orders": [1, 0]})
    group = ScriptedGroup(member("a", held), member("b", b""))
    found = group.cluster.run(lambda cluster: groups.describe(cluster, "billing"))
    assert (found.state, found.assignor, found.coordinator) == ("Stable", "range", 1)
    assert [each.assigned for each in found.members] == [(FIRST, SECOND), ()]
    assert found.owner_of(FIRST) is found.members[0]
    assert found.owner_of(TopicPartition("orders", 9)) is None
    assert not found.may_be_changed_from_outside


def test_what_members_of_another_protocol_hold_is_not_guessed() -> None:
    group = ScriptedGroup(member("worker", b"\x00\x01anything"))
    group.protocol_type = "connect"
    found = group.cluster.run(lambda cluster: groups.describe(cluster, "billing"))
    assert found.members[0].assigned is None


def test_an_assignment_of_a_later_version_is_read_as_far_as_it_is_known() -> None:
    assert read_assignment(assignment({"orders": [0]}, version=9) + b"more") == (FIRST,)
    assert read_assignment(b"\x00\x01\x00\x00") is None


def test_the_coordinator_is_looked_for_again_when_it_has_moved() -> None:
    group = ScriptedGroup()
    group.not_coordinator = 2
    found = group.cluster.run(lambda cluster: groups.describe(cluster, "billing"))
    assert found.state == "Empty"
    assert group.cluster.kinds().count("DescribeGroups") == 3


def test_a_coordinator_that_is_never_found_is_told_in_the_end() -> None:
    group = ScriptedGroup()
    group.not_coordinator = 1_000
    with pytest.raises(KafkaError) as refused:
        group.cluster.run(lambda cluster: groups.describe(cluster, "billing"))
    assert refused.value.code is ErrorCode.NOT_COORDINATOR


def test_a_group_of_the_new_protocol_is_described_by_its_own_api() -> None:
    held = modern.Assignment(
        topic_partitions=[
            modern.TopicPartitions(topic_id=b"t" * 16, topic_name="orders", partitions=[1])
        ]
    )
    one = modern.Member(
        member_id="m", member_epoch=3, client_id="a", client_host="/10.0.0.1",
        subscribed_topic_names=["orders"], assignment=held, target_assignment=held,
    )  # fmt: skip
    group = ScriptedGroup()
    group.modern = modern.DescribedGroup(
        group_id="billing", group_state="Stable", group_epoch=3, assignment_epoch=3,
        assignor_name="uniform", members=[one],
    )  # fmt: skip
    found = group.cluster.run(lambda cluster: groups.describe(cluster, "billing"))
    assert (found.type, found.state, found.assignor) == ("Consumer", "Stable", "uniform")
    assert [each.assigned for each in found.members] == [(SECOND,)]


def test_an_unknown_group_is_dead_and_those_spelled_like_it_are_named() -> None:
    scripted = ScriptedGroup().cluster
    found = scripted.run(lambda cluster: groups.describe(cluster, "biling"))
    assert not found.exists
    assert found.may_be_changed_from_outside
    with pytest.raises(UnknownGroup, match=r"there is no group 'biling'. Did you mean billing\?"):
        scripted.run(lambda cluster: groups.describe_existing(cluster, "biling"))


def test_deleting_tells_what_became_of_each_group() -> None:
    scripted = ScriptedGroup().cluster
    results = scripted.run(lambda cluster: groups.delete(cluster, ["billing", "biling"]))
    assert results["billing"] is None
    assert isinstance(results["biling"], UnknownGroup)


def test_a_group_with_members_is_not_deleted() -> None:
    group = ScriptedGroup(member("a", b""))
    group.refuse = ErrorCode.NON_EMPTY_GROUP
    refused = group.cluster.run(lambda cluster: groups.delete(cluster, ["billing"]))["billing"]
    assert refused is not None
    assert refused.code is ErrorCode.NON_EMPTY_GROUP
