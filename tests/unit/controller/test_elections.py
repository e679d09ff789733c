"""Who becomes leader, occasion by occasion."""

from __future__ import annotations

import pytest

from ottla.controller.elections import (
    Elected,
    Electorate,
    elect_first,
    elect_for_offline,
    elect_for_reassignment,
    elect_for_shutdown,
    elect_preferred,
)
from ottla.controller.states import (
    PARTITION_BEFORE,
    REPLICA_BEFORE,
    PartitionState,
    ReplicaState,
)


def voters(*, isr: tuple[int, ...], live: tuple[int, ...]) -> Electorate:
    return Electorate(assigned=(1, 2, 3), isr=isr, live=live)


def test_the_first_live_replica_leads_a_new_partition() -> None:
    assert elect_first((2, 3)) == Elected(leader=2, isr=(2, 3), recipients=(2, 3))
    assert elect_first(()) is None


def test_a_dead_leader_is_followed_by_the_first_in_sync_in_the_order_of_assignment() -> None:
    elected = elect_for_offline(voters(isr=(3, 1, 2), live=(2, 3)), unclean_allowed=True)
    assert elected == Elected(leader=2, isr=(3, 2), recipients=(2, 3))


@pytest.mark.parametrize("unclean_allowed", [True, False])
def test_without_anybody_in_sync_only_an_unclean_election_helps(unclean_allowed: bool) -> None:
    elected = elect_for_offline(voters(isr=(1,), live=(3,)), unclean_allowed=unclean_allowed)
    unclean = Elected(leader=3, isr=(3,), recipients=(3,), unclean=True)
    assert elected == (unclean if unclean_allowed else None)


def test_the_dead_are_not_elected() -> None:
    assert elect_for_offline(voters(isr=(1,), live=()), unclean_allowed=True) is None


def test_a_reassignment_elects_among_the_target() -> None:
    elected = elect_for_reassignment(voters(isr=(1, 2), live=(1, 2, 3)), target=(3, 2))
    assert elected == Elected(leader=2, isr=(1, 2), recipients=(3, 2))
    assert elect_for_reassignment(voters(isr=(1,), live=(1, 2)), target=(2,)) is None


def test_only_the_first_replica_is_preferred() -> None:
    elected = elect_preferred(voters(isr=(2, 1), live=(1, 2)))
    assert elected == Elected(leader=1, isr=(2, 1), recipients=(1, 2, 3))
    assert elect_preferred(voters(isr=(2, 3), live=(1, 2, 3))) is None
    assert elect_preferred(voters(isr=(1, 2), live=(2, 3))) is None


def test_a_broker_that_shuts_down_leaves_the_in_sync_set_but_hears_of_it() -> None:
    everybody = voters(isr=(1, 2, 3), live=(1, 2, 3))
    elected = elect_for_shutdown(everybody, shutting_down=[1])
    assert elected == Elected(leader=2, isr=(2, 3), recipients=(1, 2, 3))
    assert elect_for_shutdown(voters(isr=(1,), live=(1, 2)), shutting_down=[1]) is None


def test_every_state_can_be_reached() -> None:
    assert set(PARTITION_BEFORE) == set(PartitionState)
    assert set(REPLICA_BEFORE) == set(ReplicaState)
    assert ReplicaState.DELETION_SUCCESSFUL not in REPLICA_BEFORE[ReplicaState.ONLINE]
    assert PARTITION_BEFORE[PartitionState.NON_EXISTENT] == (PartitionState.OFFLINE,)
