"""KIP-345: a member that restarts within its session keeps its place."""

from __future__ import annotations

import pytest

from ottla.coordinators.groups.requests import JoinAnswer, Leaving, SyncAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import (
    DELAY_MS,
    NONE,
    RANGE,
    REBALANCE_MS,
    SESSION_MS,
    Driver,
    assignment,
    subscription,
)

FENCED = ErrorCode.FENCED_INSTANCE_ID


def test_a_static_member_is_named_after_its_instance_and_needs_no_second_join() -> None:
    driver = Driver()
    answers = driver.ask_join(instance_id="one", client_id="client")
    driver.advance(DELAY_MS)
    assert answers[0].member_id == "one-1"
    assert answers[0].members[0].instance_id == "one"


def test_a_static_follower_restarts_without_a_rebalance_and_gets_its_old_assignment() -> None:
    driver = Driver()
    leader, follower = driver.formed("one", "two")
    [answer] = driver.ask_join(instance_id="two")
    assert answer == JoinAnswer(NONE, "two-3", 1, "consumer", "range", leader)
    assert driver.state() is GroupState.STABLE
    [synced] = driver.ask_sync("two-3", instance_id="two")
    assert synced.assignment == assignment(orders=[1])
    assert [member.member_id for member in driver.log[-1].members] == [leader, "two-3"]
    assert driver.log[-1].members[1].assignment == assignment(orders=[1])
    assert follower not in driver.group.members


def test_changed_metadata_alone_is_no_cause_for_a_rebalance_when_a_static_member_restarts() -> None:
    driver = Driver()
    driver.formed("one", "two")
    changed = (("range", subscription("orders", "payments")),)
    [answer] = driver.ask_join(instance_id="two", protocols=changed)
    assert answer.generation == 1
    assert driver.state() is GroupState.STABLE
    assert driver.log[-1].members[1].subscription == changed[0][1]


def test_the_old_process_of_a_restarted_static_member_is_fenced() -> None:
    driver = Driver()
    _, old = driver.formed("one", "two")
    driver.ask_join(instance_id="two")
    assert driver.heartbeat(old, instance_id="two") is FENCED
    assert driver.ask_sync(old, instance_id="two") == [SyncAnswer(FENCED)]
    assert driver.commit(old, instance_id="two") is FENCED
    assert driver.refused_join(member_id=old, instance_id="two") is FENCED
    assert driver.leave(Leaving(old, "two")).members[0][1] is FENCED


def test_a_static_leader_restarts_and_is_told_another_leads_so_that_it_does_not_assign() -> None:
    driver = Driver()
    leader, _ = driver.formed("one", "two")
    [answer] = driver.ask_join(instance_id="one")
    assert answer == JoinAnswer(NONE, "one-3", 1, "consumer", "range", leader)
    assert driver.group.leader_id == "one-3"
    assert driver.log[-1].leader == "one-3"


def test_a_static_leader_that_can_skip_the_assignment_hears_that_it_leads_and_whom() -> None:
    driver = Driver()
    driver.formed("one", "two")
    [answer] = driver.ask_join(instance_id="one", supports_skipping_assignment=True)
    assert answer.leader == answer.member_id == "one-3"
    assert answer.skip_assignment
    assert {member.instance_id for member in answer.members} == {"one", "two"}
    [synced] = driver.ask_sync("one-3", instance_id="one")
    assert synced.assignment == assignment(orders=[0])


def test_a_static_follower_that_can_skip_the_assignment_hears_nothing_more() -> None:
    driver = Driver()
    leader, _ = driver.formed("one", "two")
    [answer] = driver.ask_join(instance_id="two", supports_skipping_assignment=True)
    assert (answer.leader, answer.skip_assignment, answer.members) == (leader, False, ())


def test_a_restarted_static_member_waits_until_its_new_id_is_stored() -> None:
    driver = Driver()
    driver.formed("one")
    driver.commits_at_once = False
    answers = driver.ask_join(instance_id="one")
    driver.advance(SESSION_MS)
    assert not answers
    assert "one-2" in driver.group.members
    driver.store()
    assert answers[0].error is NONE
    assert driver.timers["session", "one-2"] == driver.now_ms + SESSION_MS


def test_a_restart_that_cannot_be_stored_leaves_the_member_its_old_id() -> None:
    driver = Driver()
    leader, follower = driver.formed("one", "two")
    driver.commits_at_once = False
    changed = (("range", subscription("payments")),)
    answers = driver.ask_join(instance_id="two", protocols=changed, session_timeout_ms=20_000)
    driver.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert answers == [
        JoinAnswer(ErrorCode.NOT_COORDINATOR, "", 1, "consumer", "range", leader),
    ]
    member = driver.group.members[follower]
    assert (member.protocols, member.session_timeout_ms) == (RANGE, SESSION_MS)
    assert driver.heartbeat(follower, instance_id="two") is NONE
    assert ("session", "two-3") not in driver.timers


def test_a_restart_during_a_restart_fences_the_first_and_only_the_last_counts() -> None:
    driver = Driver()
    driver.formed("one", "two")
    driver.commits_at_once = False
    first = driver.ask_join(instance_id="two")
    second = driver.ask_join(instance_id="two")
    assert first == [JoinAnswer(FENCED, "two-3")]
    driver.store()
    assert second[0].member_id == "two-4"
    assert len(first) == 1


def test_when_neither_of_two_restarts_can_be_stored_the_member_has_the_id_the_log_knows() -> None:
    driver = Driver()
    _, old = driver.formed("one", "two")
    driver.commits_at_once = False
    driver.ask_join(instance_id="two")
    answers = driver.ask_join(instance_id="two")
    driver.refuse(ErrorCode.REQUEST_TIMED_OUT)
    assert answers[0].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert driver.heartbeat(old, instance_id="two") is NONE


def test_a_rebalance_during_a_restart_takes_its_join_along() -> None:
    driver = Driver()
    [leader, _] = driver.formed("one", "two")
    driver.commits_at_once = False
    answers = driver.ask_join(instance_id="two")
    leading = driver.ask_join(member_id=leader, instance_id="one")
    assert answers[0].generation == leading[0].generation == 2
    driver.store()
    assert len(answers) == 1


def test_a_restart_that_is_stored_while_the_others_still_join_waits_with_them() -> None:
    driver = Driver()
    leader, _, third = driver.formed("one", "two", "three")
    driver.commits_at_once = False
    answers = driver.ask_join(instance_id="two")
    leading = driver.ask_join(member_id=leader, instance_id="one")
    driver.store()
    assert not answers
    driver.ask_join(member_id=third, instance_id="three")
    assert answers[0].generation == leading[0].generation == 2


def test_a_static_member_whose_restart_changes_the_chosen_protocol_begins_a_rebalance() -> None:
    driver = Driver()
    both = (("range", b"r"), ("sticky", b"s"))
    driver.formed("one", protocols=both)
    only = (("sticky", b"s"), ("range", b"r"))
    answers = driver.ask_join(instance_id="one", protocols=only)
    assert answers[0].generation == 2
    assert answers[0].protocol == "sticky"


def test_a_static_member_that_restarts_while_the_leader_assigns_begins_a_rebalance() -> None:
    driver = Driver()
    first, second = driver.ask_join(instance_id="one"), driver.ask_join(instance_id="two")
    driver.advance(2 * DELAY_MS)
    waiting = driver.ask_sync(second[0].member_id, instance_id="two")
    fresh = driver.ask_join(instance_id="two")
    assert waiting == [SyncAnswer(FENCED)]
    assert driver.state() is GroupState.PREPARING_REBALANCE
    driver.ask_join(member_id=first[0].member_id, instance_id="one")
    assert fresh[0].generation == 2


def test_a_static_member_that_restarts_while_others_join_takes_part_with_its_new_id() -> None:
    driver = Driver()
    leader, old = driver.formed("one", "two")
    driver.ask_join(member_id=leader, instance_id="one")
    waiting = driver.ask_join(member_id=old, instance_id="two")
    # Everybody has joined, so that there is a new generation; a third one begins the next.
    assert waiting[0].generation == 2
    driver.ask_join(instance_id="three")
    parked = driver.ask_join(member_id=old, instance_id="two")
    fresh = driver.ask_join(instance_id="two")
    assert parked == [JoinAnswer(FENCED, old)]
    driver.ask_join(member_id=leader, instance_id="one")
    assert fresh[0].generation == 3


def test_static_members_that_do_not_rejoin_stay_until_they_do_not_sync_either() -> None:
    driver = Driver()
    leader, absent = driver.formed("one", "two", session_timeout_ms=200_000)
    answers = driver.ask_join(member_id=leader, instance_id="one", session_timeout_ms=200_000)
    driver.advance(REBALANCE_MS)
    assert answers[0].generation == 2
    assert len(answers[0].members) == 2
    driver.ask_sync(leader, {absent: b"kept"}, instance_id="one")
    assert driver.group.members[absent].assignment == b"kept"
    driver.advance(REBALANCE_MS)
    assert list(driver.group.members) == [leader]


def test_a_leader_that_does_not_rejoin_in_time_makes_way_for_one_that_has() -> None:
    driver = Driver()
    leader, follower = driver.formed("one", "two", session_timeout_ms=200_000)
    changed = (("range", subscription("payments")),)
    answers = driver.ask_join(
        member_id=follower, instance_id="two", protocols=changed, session_timeout_ms=200_000
    )
    driver.advance(REBALANCE_MS)
    assert answers[0].leader == follower
    assert {member.member_id for member in answers[0].members} == {leader, follower}


def test_when_no_static_member_rejoins_the_rebalance_waits_until_their_sessions_end() -> None:
    driver = Driver()
    driver.formed("one", "two", session_timeout_ms=100_000)
    driver.leave(Leaving("", "one"))
    driver.advance(REBALANCE_MS)
    assert driver.state() is GroupState.PREPARING_REBALANCE
    assert driver.group.generation == 1
    assert ("join",) in driver.timers
    driver.advance(100_000 - REBALANCE_MS)
    assert driver.state() is GroupState.EMPTY
    assert driver.group.generation == 2


def test_a_static_member_is_removed_when_its_session_ends_and_may_come_again() -> None:
    driver = Driver()
    driver.formed("one")
    driver.advance(SESSION_MS)
    assert driver.state() is GroupState.EMPTY
    answers = driver.ask_join(instance_id="one")
    driver.advance(DELAY_MS)
    assert answers[0].generation == 3


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_member_that_restarts_before_it_synced_has_the_rest_of_the_time_to_do_so(
    is_answered: bool,
) -> None:
    driver = Driver()
    first, second = driver.ask_join(instance_id="one"), driver.ask_join(instance_id="two")
    driver.advance(2 * DELAY_MS)
    driver.ask_sync(first[0].member_id, {second[0].member_id: b"b"}, instance_id="one")
    [fresh] = driver.ask_join(instance_id="two", session_timeout_ms=200_000)
    if is_answered:
        [answer] = driver.ask_sync(fresh.member_id, instance_id="two")
        assert answer.assignment == b"b"
    driver.advance(REBALANCE_MS, alive=(first[0].member_id,))
    assert (fresh.member_id in driver.group.members) is is_answered
