"""Members go: they leave, fall silent, do not come back; the last one leaves an empty group."""

from __future__ import annotations

from ottla.coordinators.effects import Append, Reply
from ottla.coordinators.groups.requests import JoinAnswer, LeaveAnswer, Leaving
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import (
    DELAY_MS,
    NONE,
    REBALANCE_MS,
    SESSION_MS,
    Driver,
)


def test_a_member_that_leaves_makes_the_others_rejoin() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    leaving = Leaving(follower, reason="the consumer is being closed")
    assert driver.leave(leaving) == LeaveAnswer(NONE, ((leaving, NONE),))
    assert driver.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS
    assert ("session", follower) not in driver.timers
    [answer] = driver.ask_join(member_id=leader)
    assert (answer.generation, len(answer.members)) == (2, 1)


def test_when_the_leader_leaves_another_member_leads() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    driver.leave(Leaving(leader))
    [answer] = driver.ask_join(member_id=follower)
    assert answer.leader == follower


def test_when_the_last_member_leaves_the_group_is_empty_in_a_new_generation_and_stored_so() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.leave(Leaving(member_id))
    assert driver.state() is GroupState.EMPTY
    value = driver.log[-1]
    assert (value.generation, value.protocol, value.leader) == (2, None, None)
    assert (value.protocol_type, value.members) == ("consumer", [])
    assert not driver.timers


def test_who_leaves_last_does_not_wait_until_the_log_knows() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    answers: list[LeaveAnswer] = []
    effects = driver.group.leave([Leaving(member_id)], answers.append, now_ms=driver.now_ms)
    assert isinstance(effects[0], Reply)
    assert any(isinstance(effect, Append) for effect in effects[1:])


def test_an_empty_group_that_cannot_be_stored_is_empty_all_the_same() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.commits_at_once = False
    driver.leave(Leaving(member_id))
    driver.refuse(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert driver.state() is GroupState.EMPTY


def test_many_leave_at_once_in_one_rebalance() -> None:
    driver = Driver()
    ids = driver.formed(None, None, None)
    answer = driver.leave(*map(Leaving, ids))
    assert [error for _, error in answer.members] == [NONE, NONE, NONE]
    assert driver.state() is GroupState.EMPTY
    assert driver.group.generation == 2
    assert len(driver.log) == 2


def test_a_silent_member_is_removed_when_its_session_ends() -> None:
    driver = Driver()
    leader, silent = driver.formed(None, None)
    driver.advance(SESSION_MS, alive=(leader,))
    assert list(driver.group.members) == [leader]
    assert driver.state() is GroupState.PREPARING_REBALANCE
    assert driver.heartbeat(silent) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_heartbeat_in_time_keeps_the_member() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    for _ in range(5):
        driver.advance(SESSION_MS - 1)
        assert driver.heartbeat(member_id) is NONE


def test_a_commit_in_time_keeps_the_member() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.advance(SESSION_MS - 1)
    assert driver.commit(member_id) is NONE
    driver.advance(SESSION_MS - 1)
    assert driver.heartbeat(member_id) is NONE


def test_who_waits_for_the_others_to_join_does_not_lose_its_session() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    answers = driver.ask_join(member_id=leader)
    driver.advance(REBALANCE_MS - 1, alive=(follower,))
    assert not answers
    assert leader in driver.group.members


def test_dynamic_members_that_do_not_rejoin_in_time_are_dropped() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    answers = driver.ask_join(member_id=follower, protocols=(("range", b"changed"),))
    driver.advance(REBALANCE_MS, alive=(leader,))
    assert answers[0].generation == 2
    assert answers[0].leader == follower
    assert list(driver.group.members) == [follower]
    assert ("session", leader) not in driver.timers


def test_the_last_one_missing_leaves_and_the_rebalance_goes_on_without_it() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    answers = driver.ask_join(member_id=leader)
    driver.leave(Leaving(follower))
    assert answers[0].generation == 2


def test_a_rebalance_does_not_wait_for_a_pending_member_that_leaves() -> None:
    driver = Driver()
    [leader] = driver.formed(None)
    [given] = driver.ask_join(requires_known_member_id=True)
    answers = driver.ask_join(member_id=leader)
    assert not answers
    driver.leave(Leaving(given.member_id))
    assert answers[0].generation == 2


def test_a_member_that_leaves_while_its_join_waits_is_answered() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    answers = driver.ask_join(member_id=leader)
    driver.leave(Leaving(leader))
    assert answers == [JoinAnswer(ErrorCode.UNKNOWN_MEMBER_ID, "")]
    assert list(driver.group.members) == [follower]


def test_all_leave_a_new_group_during_its_delay_and_it_is_empty_after_it() -> None:
    driver = Driver()
    [given] = driver.ask_join(requires_known_member_id=True)
    driver.ask_join(member_id=given.member_id)
    driver.leave(Leaving(given.member_id))
    assert driver.state() is GroupState.PREPARING_REBALANCE
    driver.advance(DELAY_MS)
    assert driver.state() is GroupState.EMPTY


def test_only_an_empty_group_dies() -> None:
    driver = Driver()
    driver.ask_join(requires_known_member_id=True)
    driver.carry_out(driver.group.die(now_ms=driver.now_ms))
    assert driver.state() is GroupState.DEAD
    assert not driver.timers
