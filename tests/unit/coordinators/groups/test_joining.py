"""Who may join, under which id, and which generation follows."""

from __future__ import annotations

from ottla.coordinators.groups.requests import JoinAnswer, JoinedMember
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
    subscription,
)

OTHER = (("range", subscription("payments")),)


def test_the_first_member_of_a_new_group_leads_generation_1_after_the_initial_delay() -> None:
    driver = Driver()
    answers = driver.ask_join()
    assert driver.state() is GroupState.PREPARING_REBALANCE
    driver.advance(DELAY_MS - 1)
    assert answers == []
    driver.advance(1)
    members = (JoinedMember("client-1", None, RANGE[0][1]),)
    assert answers == [
        JoinAnswer(NONE, "client-1", 1, "consumer", "range", "client-1", members, False)
    ]
    assert driver.state() is GroupState.COMPLETING_REBALANCE


def test_the_initial_delay_is_prolonged_while_new_members_come_but_not_beyond_the_limit() -> None:
    driver = Driver()
    waiting = [driver.ask_join(rebalance_timeout_ms=10_000)]
    for _ in range(3):
        driver.advance(DELAY_MS - 1)
        waiting.append(driver.ask_join(rebalance_timeout_ms=10_000))
        driver.advance(1)
    # 3,000, then 3,000, 3,000 and what is left of 7,000 less 3,000 less 3,000.
    assert driver.timers[("join",)] == BEGINNING_MS + 9_000 + 1_000
    assert not any(waiting)
    driver.ask_join(rebalance_timeout_ms=10_000)
    driver.advance(1_000)
    assert [answer.generation for [answer] in waiting] == [1, 1, 1, 1]
    assert len(driver.group.members) == 5


def test_the_initial_delay_is_not_prolonged_when_nobody_came_during_it() -> None:
    driver = Driver()
    first = driver.ask_join()
    second = driver.ask_join()
    driver.advance(DELAY_MS)
    assert not first
    driver.advance(DELAY_MS)
    assert first
    assert second[0].members == ()
    assert second[0].leader == first[0].member_id


def test_an_empty_group_that_is_not_new_delays_its_first_join_too_but_only_once() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.advance(SESSION_MS)
    assert driver.state() is GroupState.EMPTY
    first = driver.ask_join()
    driver.advance(DELAY_MS - 1)
    second = driver.ask_join()
    assert not first
    driver.advance(1)
    assert first[0].generation == second[0].generation == 3
    assert member_id not in driver.group.members


def test_no_initial_delay_still_answers_in_the_next_round_of_the_loop() -> None:
    driver = Driver(Driver().settings._replace(initial_rebalance_delay_ms=0))
    answers = driver.ask_join()
    driver.advance(0)
    assert answers[0].generation == 1


def test_a_member_that_must_know_its_id_is_given_one_and_joins_with_it() -> None:
    driver = Driver()
    [refusal] = driver.ask_join(requires_known_member_id=True)
    assert refusal == JoinAnswer(ErrorCode.MEMBER_ID_REQUIRED, "client-1")
    assert driver.state() is GroupState.EMPTY
    assert driver.group.pending_members == ("client-1",)
    answers = driver.ask_join(member_id="client-1", requires_known_member_id=True)
    assert ("pending", "client-1") not in driver.timers
    driver.advance(DELAY_MS)
    assert answers[0].leader == answers[0].member_id == "client-1"


def test_a_pending_member_that_does_not_come_back_is_forgotten_after_its_session() -> None:
    driver = Driver()
    driver.ask_join(requires_known_member_id=True)
    driver.advance(SESSION_MS)
    assert driver.group.pending_members == ()
    assert driver.refused_join(member_id="client-1") is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_pending_members_until_they_come_or_expire() -> None:
    driver = Driver()
    [leader] = driver.formed(None)
    driver.ask_join(requires_known_member_id=True, client_id="late")
    answers = driver.ask_join(member_id=leader)
    driver.advance(SESSION_MS - 1)
    assert not answers
    driver.advance(1)
    assert answers[0].generation == 2


def test_a_rebalance_goes_on_when_the_pending_member_joins() -> None:
    driver = Driver()
    [leader] = driver.formed(None)
    [given] = driver.ask_join(requires_known_member_id=True, client_id="late")
    answers = driver.ask_join(member_id=leader)
    late = driver.ask_join(member_id=given.member_id, client_id="late")
    assert answers[0].generation == late[0].generation == 2
    assert [joined.member_id for joined in answers[0].members] == [leader, given.member_id]


def test_a_pending_id_used_with_an_instance_is_a_server_error_as_in_kafka() -> None:
    driver = Driver()
    [given] = driver.ask_join(requires_known_member_id=True)
    [answer] = driver.ask_join(member_id=given.member_id, instance_id="one")
    assert answer == JoinAnswer(ErrorCode.UNKNOWN_SERVER_ERROR, "")


def test_a_second_member_makes_the_first_rejoin_and_both_hear_the_next_generation() -> None:
    driver = Driver()
    [leader] = driver.formed(None)
    second = driver.ask_join(client_id="second")
    assert driver.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS
    assert driver.commit(leader) is NONE
    first = driver.ask_join(member_id=leader)
    assert first[0].generation == second[0].generation == 2
    assert len(first[0].members) == 2
    assert second[0].members == ()
    driver.share_out([leader, second[0].member_id])
    assert driver.state() is GroupState.STABLE


def test_a_follower_that_rejoins_unchanged_a_stable_group_hears_its_generation_at_once() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    [answer] = driver.ask_join(member_id=follower)
    assert answer == JoinAnswer(NONE, follower, 1, "consumer", "range", leader)
    assert driver.state() is GroupState.STABLE


def test_a_follower_with_changed_metadata_begins_a_rebalance() -> None:
    driver = Driver()
    _, follower = driver.formed(None, None)
    assert driver.ask_join(member_id=follower, protocols=OTHER) == []
    assert driver.state() is GroupState.PREPARING_REBALANCE


def test_a_leader_that_rejoins_a_stable_group_begins_a_rebalance_even_unchanged() -> None:
    driver = Driver()
    leader, _ = driver.formed(None, None)
    assert driver.ask_join(member_id=leader) == []
    assert driver.state() is GroupState.PREPARING_REBALANCE


def test_a_member_that_missed_its_answer_hears_it_again_while_the_leader_assigns() -> None:
    driver = Driver()
    first, second = driver.ask_join(), driver.ask_join()
    driver.advance(2 * DELAY_MS)
    assert driver.ask_join(member_id=first[0].member_id) == first
    assert driver.ask_join(member_id=second[0].member_id) == second
    assert len(first[0].members) == 2


def test_a_member_that_changes_while_the_leader_assigns_begins_again() -> None:
    driver = Driver()
    first, second = driver.ask_join(), driver.ask_join()
    driver.advance(2 * DELAY_MS)
    follower = second[0].member_id
    synced = driver.ask_sync(follower)
    assert driver.ask_join(member_id=follower, protocols=OTHER) == []
    assert synced[0].error is ErrorCode.REBALANCE_IN_PROGRESS
    answers = driver.ask_join(member_id=first[0].member_id)
    assert answers[0].generation == 2


def test_a_join_of_the_same_member_supersedes_the_one_that_waits() -> None:
    driver = Driver()
    [leader, _] = driver.formed(None, None)
    given_up = driver.ask_join(member_id=leader)
    answers = driver.ask_join(member_id=leader)
    assert given_up == [JoinAnswer(ErrorCode.REBALANCE_IN_PROGRESS, leader)]
    driver.advance(REBALANCE_MS)
    assert answers[0].generation == 2


def test_the_protocol_with_most_votes_among_those_all_can_speak_is_chosen() -> None:
    driver = Driver()
    one, two, three = (("sticky", b"1"), ("range", b"2"), ("own", b"3"))
    driver.ask_join(protocols=(three, one, two))
    driver.ask_join(protocols=(two, one))
    answers = driver.ask_join(protocols=(two, one))
    driver.advance(2 * DELAY_MS)
    assert answers[0].protocol == "range"
    assert driver.group.protocol == "range"


def test_a_new_member_whose_join_waits_over_five_minutes_is_dropped_and_may_come_again() -> None:
    driver = Driver()
    [leader] = driver.formed(None, session_timeout_ms=1_000_000, rebalance_timeout_ms=1_000_000)
    answers = driver.ask_join()
    driver.advance(300_000 - 1, alive=(leader,))
    assert not answers
    driver.advance(1)
    assert answers == [JoinAnswer(ErrorCode.UNKNOWN_MEMBER_ID, "")]
    assert list(driver.group.members) == [leader]


def test_a_join_of_the_first_version_waits_as_long_as_the_slowest_member_allows() -> None:
    driver = Driver()
    leader, _ = driver.formed(None, None)
    driver.ask_join(rebalance_timeout_ms=90_000)
    assert driver.timers[("join",)] == driver.now_ms + 90_000
    assert driver.group.members[leader].rebalance_timeout_ms == REBALANCE_MS
