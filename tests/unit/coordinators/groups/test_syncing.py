"""The leader's assignments: stored first, then handed out."""

from __future__ import annotations

from ottla.coordinators.groups.requests import Leaving, SyncAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import (
    BEGINNING_MS,
    DELAY_MS,
    NONE,
    RANGE,
    REBALANCE_MS,
    SESSION_MS,
    Driver,
)


def completing() -> tuple[Driver, str, str]:
    """Two members have joined; appends wait until told."""
    driver = Driver()
    driver.commits_at_once = False
    first, second = driver.ask_join(), driver.ask_join()
    driver.advance(2 * DELAY_MS)
    return driver, first[0].member_id, second[0].member_id


def test_members_hear_their_assignments_only_when_they_are_stored() -> None:
    driver, leader, follower = completing()
    waiting = driver.ask_sync(follower)
    assert not driver.in_flight
    leading = driver.ask_sync(leader, {leader: b"a", follower: b"b", "invented": b"c"})
    assert (waiting, leading) == ([], [])
    driver.store()
    assert waiting == [SyncAnswer(NONE, "consumer", "range", b"b")]
    assert leading == [SyncAnswer(NONE, "consumer", "range", b"a")]
    assert driver.state() is GroupState.STABLE


def test_what_is_stored_is_the_group_as_kafka_writes_it() -> None:
    driver, leader, follower = completing()
    driver.ask_sync(leader, {leader: b"a"})
    [append] = driver.in_flight
    assert append.records[0].key == b"\x00\x02\x00\x07readers"
    assert append.records[0].value is not None
    assert append.records[0].value[:2] == b"\x00\x03"
    driver.store()
    [value] = driver.log
    assert (value.protocol_type, value.generation, value.protocol) == ("consumer", 1, "range")
    assert value.leader == leader
    assert value.current_state_timestamp == BEGINNING_MS + 2 * DELAY_MS
    assert [(m.member_id, m.subscription, m.assignment) for m in value.members] == [
        (leader, RANGE[0][1], b"a"),
        (follower, RANGE[0][1], b""),
    ]
    member = value.members[0]
    assert (member.client_id, member.client_host) == ("client", "/10.0.0.1")
    assert (member.rebalance_timeout, member.session_timeout) == (60_000, 10_000)


def test_a_member_that_syncs_late_finds_its_assignment() -> None:
    driver, leader, follower = completing()
    driver.ask_sync(leader, {follower: b"b"})
    driver.store()
    assert ("sync",) in driver.timers
    [answer] = driver.ask_sync(follower)
    assert answer.assignment == b"b"
    assert ("sync",) not in driver.timers


def test_a_member_that_syncs_while_the_append_is_on_its_way_waits_for_it() -> None:
    driver, leader, follower = completing()
    driver.ask_sync(leader, {follower: b"b"})
    answers = driver.ask_sync(follower)
    assert not answers
    driver.store()
    assert answers[0].assignment == b"b"


def test_who_joins_while_the_append_is_on_its_way_begins_a_rebalance_all_hear_of_once() -> None:
    driver, leader, follower = completing()
    syncs = [driver.ask_sync(follower), driver.ask_sync(leader, {leader: b"a"})]
    driver.ask_join()
    assert syncs == [[SyncAnswer(ErrorCode.REBALANCE_IN_PROGRESS)]] * 2
    driver.store()
    assert driver.state() is GroupState.PREPARING_REBALANCE
    assert [len(answers) for answers in syncs] == [1, 1]
    assert driver.group.members[leader].assignment == b""


def test_an_append_of_an_older_generation_changes_nothing_when_it_lands() -> None:
    driver, leader, follower = completing()
    driver.ask_sync(leader, {leader: b"old"})
    driver.leave(Leaving(follower))
    driver.ask_join(member_id=leader)
    assert driver.group.generation == 2
    answers = driver.ask_sync(leader, {leader: b"new"})
    old, new = driver.in_flight
    driver.carry_out(driver.group.stored(old.token, now_ms=driver.now_ms))
    assert not answers
    driver.carry_out(driver.group.stored(new.token, now_ms=driver.now_ms))
    assert answers[0].assignment == b"new"


def test_a_refusal_of_an_older_generation_changes_nothing() -> None:
    driver, leader, follower = completing()
    driver.ask_sync(leader)
    driver.leave(Leaving(follower))
    driver.ask_join(member_id=leader)
    driver.refuse(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert driver.state() is GroupState.COMPLETING_REBALANCE


def test_a_leader_that_repeats_its_sync_does_not_store_twice() -> None:
    driver, leader, _ = completing()
    given_up = driver.ask_sync(leader, {leader: b"a"})
    answers = driver.ask_sync(leader, {leader: b"b"})
    assert given_up == [SyncAnswer(ErrorCode.REBALANCE_IN_PROGRESS)]
    assert len(driver.in_flight) == 1
    driver.store()
    assert answers[0].assignment == b"a"


def test_who_does_not_sync_within_the_rebalance_timeout_is_removed_and_the_rest_rejoin() -> None:
    driver, leader, follower = completing()
    waiting = driver.ask_sync(follower)
    driver.advance(REBALANCE_MS - 1, alive=(leader,))
    assert not waiting
    driver.advance(1)
    assert waiting == [SyncAnswer(ErrorCode.REBALANCE_IN_PROGRESS)]
    assert list(driver.group.members) == [follower]
    assert driver.group.leader_id == follower
    assert driver.state() is GroupState.PREPARING_REBALANCE


def test_a_follower_that_never_syncs_is_removed_from_a_stable_group_too() -> None:
    driver, leader, follower = completing()
    driver.commits_at_once = True
    driver.ask_sync(leader)
    assert driver.state() is GroupState.STABLE
    driver.advance(REBALANCE_MS, alive=(leader, follower))
    assert list(driver.group.members) == [leader]
    assert driver.state() is GroupState.PREPARING_REBALANCE


def test_the_session_of_who_waits_for_its_assignment_does_not_end_and_begins_anew() -> None:
    driver, leader, follower = completing()
    waiting = driver.ask_sync(follower)
    driver.advance(30_000, alive=(leader,))
    assert follower in driver.group.members
    driver.ask_sync(leader, {follower: b"b"})
    driver.store()
    assert waiting[0].error is NONE
    assert driver.timers["session", follower] == driver.now_ms + 10_000


def test_a_member_that_leaves_while_it_waits_for_its_assignment_hears_that_it_is_none() -> None:
    driver, _, follower = completing()
    waiting = driver.ask_sync(follower)
    driver.leave(Leaving(follower))
    assert waiting == [SyncAnswer(ErrorCode.UNKNOWN_MEMBER_ID)]


def test_who_has_not_synced_when_a_rebalance_begins_has_the_time_of_that_one() -> None:
    driver, leader, follower = completing()
    driver.advance(REBALANCE_MS - 1, alive=(leader, follower))
    driver.ask_join()
    assert ("sync",) not in driver.timers
    driver.advance(10_000, alive=(leader, follower))
    assert {leader, follower} <= driver.group.members.keys()


def test_a_new_member_has_its_own_session_from_its_first_answer_on() -> None:
    driver, leader, follower = completing()
    for id in (leader, follower):
        assert driver.timers["session", id] == driver.now_ms + SESSION_MS
    driver.advance(SESSION_MS)
    assert driver.state() is GroupState.EMPTY
