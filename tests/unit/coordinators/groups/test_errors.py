"""Every refusal a group can give, as the table of errors has them: one test a row."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordinators.groups.requests import JoinAnswer, LeaveAnswer, Leaving, SyncAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import DELAY_MS, NONE, RANGE, SETTINGS, Driver

E = ErrorCode


def dead() -> Driver:
    driver = Driver()
    driver.carry_out(driver.group.unload(now_ms=driver.now_ms))
    assert driver.state() is GroupState.DEAD
    return driver


def completing() -> tuple[Driver, str]:
    driver = Driver()
    answers = driver.ask_join()
    driver.advance(DELAY_MS)
    assert driver.state() is GroupState.COMPLETING_REBALANCE
    return driver, answers[0].member_id


def preparing() -> tuple[Driver, str]:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.ask_join()
    assert driver.state() is GroupState.PREPARING_REBALANCE
    return driver, member_id


# JoinGroup


@pytest.mark.parametrize("timeout_ms", [5_999, 1_800_001])
def test_join_with_a_session_timeout_outside_the_limits_is_invalid_session_timeout(
    timeout_ms: int,
) -> None:
    driver = Driver()
    assert driver.refused_join(session_timeout_ms=timeout_ms) is E.INVALID_SESSION_TIMEOUT
    assert driver.state() is GroupState.EMPTY


@pytest.mark.parametrize("timeout_ms", [6_000, 1_800_000])
def test_join_with_a_session_timeout_at_the_limits_is_fine(timeout_ms: int) -> None:
    driver = Driver()
    assert driver.ask_join(session_timeout_ms=timeout_ms) == []


def test_join_of_an_unknown_member_id_is_unknown_member_id() -> None:
    driver = Driver()
    assert driver.refused_join(member_id="stranger") is E.UNKNOWN_MEMBER_ID
    driver.formed(None)
    [answer] = driver.ask_join(member_id="stranger")
    assert answer == JoinAnswer(E.UNKNOWN_MEMBER_ID, "stranger")


@pytest.mark.parametrize("changes", [{"protocol_type": ""}, {"protocols": ()}])
def test_join_of_an_empty_group_without_type_or_protocols_is_inconsistent_group_protocol(
    changes: dict[str, object],
) -> None:
    assert Driver().refused_join(**changes) is E.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    "changes",
    [{"protocol_type": "connect"}, {"protocols": ()}, {"protocols": (("sticky", b""),)}],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_join_with_another_type_or_no_shared_protocol_is_inconsistent_group_protocol(
    changes: dict[str, object], is_known: bool
) -> None:
    driver = Driver()
    _, follower = driver.formed(None, None)
    member_id = follower if is_known else ""
    error = driver.refused_join(member_id=member_id, **changes)
    assert error is E.INCONSISTENT_GROUP_PROTOCOL
    assert driver.state() is GroupState.STABLE


def test_join_of_a_dynamic_member_without_an_id_is_member_id_required_with_the_id() -> None:
    [answer] = Driver().ask_join(requires_known_member_id=True)
    assert answer == JoinAnswer(E.MEMBER_ID_REQUIRED, "client-1")


def test_join_of_a_full_group_is_group_max_size_reached() -> None:
    driver = Driver(SETTINGS._replace(max_size=1))
    driver.formed(None)
    assert driver.refused_join() is E.GROUP_MAX_SIZE_REACHED


def test_join_with_an_instance_of_another_member_id_is_fenced_instance_id() -> None:
    driver = Driver()
    driver.formed("one")
    error = driver.refused_join(member_id="one-0", instance_id="one")
    assert error is E.FENCED_INSTANCE_ID


def test_join_with_an_unknown_instance_and_an_id_is_unknown_member_id() -> None:
    driver = Driver()
    [member_id] = driver.formed("one")
    error = driver.refused_join(member_id=member_id, instance_id="two")
    assert error is E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("member_id", ["", "somebody"])
def test_join_of_a_dead_group_is_coordinator_not_available(member_id: str) -> None:
    [answer] = dead().ask_join(member_id=member_id)
    assert answer == JoinAnswer(E.COORDINATOR_NOT_AVAILABLE, member_id)


# SyncGroup


def test_sync_of_an_unknown_member_is_unknown_member_id() -> None:
    driver, _ = completing()
    assert driver.ask_sync("stranger") == [SyncAnswer(E.UNKNOWN_MEMBER_ID)]


@pytest.mark.parametrize("generation", [-1, 0, 2])
def test_sync_of_another_generation_is_illegal_generation(generation: int) -> None:
    driver, member_id = completing()
    answers = driver.ask_sync(member_id, generation=generation)
    assert answers == [SyncAnswer(E.ILLEGAL_GENERATION)]


def test_sync_while_members_join_is_rebalance_in_progress() -> None:
    driver, member_id = preparing()
    assert driver.ask_sync(member_id) == [SyncAnswer(E.REBALANCE_IN_PROGRESS)]


@pytest.mark.parametrize("changes", [{"protocol_type": "connect"}, {"protocol": "sticky"}])
def test_sync_with_another_protocol_type_or_name_is_inconsistent_group_protocol(
    changes: dict[str, Any],
) -> None:
    driver, member_id = completing()
    answers = driver.ask_sync(member_id, **changes)
    assert answers == [SyncAnswer(E.INCONSISTENT_GROUP_PROTOCOL)]


def test_sync_with_the_right_protocol_type_and_name_is_fine() -> None:
    driver, member_id = completing()
    [answer] = driver.ask_sync(member_id, protocol_type="consumer", protocol="range")
    assert answer == SyncAnswer(NONE, "consumer", "range", b"")


def test_sync_with_an_instance_of_another_member_id_is_fenced_instance_id() -> None:
    driver = Driver()
    driver.formed("one")
    assert driver.ask_sync("old", instance_id="one") == [SyncAnswer(E.FENCED_INSTANCE_ID)]


def test_sync_of_an_empty_group_is_unknown_member_id() -> None:
    assert Driver().ask_sync("somebody") == [SyncAnswer(E.UNKNOWN_MEMBER_ID)]


def test_sync_of_a_dead_group_is_coordinator_not_available() -> None:
    assert dead().ask_sync("somebody") == [SyncAnswer(E.COORDINATOR_NOT_AVAILABLE)]


# Heartbeat


def test_heartbeat_of_an_unknown_member_is_unknown_member_id() -> None:
    driver, _ = completing()
    assert driver.heartbeat("stranger") is E.UNKNOWN_MEMBER_ID


def test_heartbeat_of_a_pending_member_is_unknown_member_id() -> None:
    driver = Driver()
    [given] = driver.ask_join(requires_known_member_id=True)
    assert driver.heartbeat(given.member_id) is E.UNKNOWN_MEMBER_ID


def test_heartbeat_of_another_generation_is_illegal_generation() -> None:
    driver, member_id = completing()
    assert driver.heartbeat(member_id, generation=2) is E.ILLEGAL_GENERATION


def test_heartbeat_while_members_join_is_rebalance_in_progress_and_renews_the_session() -> None:
    driver, member_id = preparing()
    driver.advance(1_000)
    assert driver.heartbeat(member_id) is E.REBALANCE_IN_PROGRESS
    assert driver.timers["session", member_id] == driver.now_ms + 10_000


def test_heartbeat_while_the_leader_assigns_is_fine_and_renews_the_session() -> None:
    driver, member_id = completing()
    driver.advance(1_000)
    assert driver.heartbeat(member_id) is NONE
    assert driver.timers["session", member_id] == driver.now_ms + 10_000


def test_heartbeat_with_an_instance_of_another_member_id_is_fenced_instance_id() -> None:
    driver = Driver()
    driver.formed("one")
    assert driver.heartbeat("old", instance_id="one") is E.FENCED_INSTANCE_ID


def test_heartbeat_with_a_fenced_instance_hears_so_before_its_generation_is_looked_at() -> None:
    driver = Driver()
    driver.formed("one")
    assert driver.heartbeat("old", instance_id="one", generation=7) is E.FENCED_INSTANCE_ID


def test_heartbeat_with_an_unknown_instance_is_unknown_member_id() -> None:
    driver = Driver()
    [member_id] = driver.formed("one")
    assert driver.heartbeat(member_id, instance_id="two") is E.UNKNOWN_MEMBER_ID


def test_heartbeat_of_a_dead_group_is_coordinator_not_available() -> None:
    assert dead().heartbeat("somebody") is E.COORDINATOR_NOT_AVAILABLE


# LeaveGroup


def test_leave_of_an_unknown_member_is_unknown_member_id() -> None:
    stranger = Leaving("stranger")
    answer = Driver().leave(stranger)
    assert answer == LeaveAnswer(NONE, ((stranger, E.UNKNOWN_MEMBER_ID),))


def test_leave_of_many_answers_each_and_a_fenced_instance_stays() -> None:
    driver = Driver()
    leader, follower = driver.formed("one", None)
    asked = [Leaving("old", "one"), Leaving(follower), Leaving(follower), Leaving(leader, "two")]
    answer = driver.leave(*asked)
    assert [error for _, error in answer.members] == [
        E.FENCED_INSTANCE_ID,
        NONE,
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
    ]
    assert list(driver.group.members) == [leader]


def test_leave_of_a_pending_member_is_accepted() -> None:
    driver = Driver()
    [given] = driver.ask_join(requires_known_member_id=True)
    leaving = Leaving(given.member_id)
    assert driver.leave(leaving) == LeaveAnswer(NONE, ((leaving, NONE),))
    assert not driver.timers


def test_leave_of_a_static_member_by_its_instance_alone_is_accepted() -> None:
    driver = Driver()
    driver.formed("one")
    leaving = Leaving("", "one")
    assert driver.leave(leaving) == LeaveAnswer(NONE, ((leaving, NONE),))
    assert driver.state() is GroupState.EMPTY


@pytest.mark.parametrize("instance_id", [None, "two"])
def test_leave_without_an_id_and_a_known_instance_is_unknown_member_id(
    instance_id: str | None,
) -> None:
    driver = Driver()
    driver.formed("one")
    [(_, error)] = driver.leave(Leaving("", instance_id)).members
    assert error is E.UNKNOWN_MEMBER_ID


def test_leave_of_a_dead_group_is_coordinator_not_available_for_all() -> None:
    assert dead().leave(Leaving("somebody")) == LeaveAnswer(E.COORDINATOR_NOT_AVAILABLE)


# OffsetCommit: whether the group lets a commit through


def test_commit_to_an_empty_group_without_a_generation_is_fine() -> None:
    driver = Driver()
    assert driver.commit("", generation=-1) is NONE
    assert driver.commit("whoever", generation=-1) is NONE


def test_commit_to_an_empty_group_with_a_generation_is_unknown_member_id() -> None:
    assert Driver().commit("somebody", generation=1) is E.UNKNOWN_MEMBER_ID


def test_commit_of_a_dead_group_is_coordinator_not_available() -> None:
    assert dead().commit("", generation=-1) is E.COORDINATOR_NOT_AVAILABLE


def test_commit_while_the_leader_assigns_is_rebalance_in_progress() -> None:
    driver, member_id = completing()
    assert driver.commit(member_id) is E.REBALANCE_IN_PROGRESS


def test_commit_while_members_join_is_fine_and_renews_the_session() -> None:
    driver, member_id = preparing()
    driver.advance(1_000)
    assert driver.commit(member_id) is NONE
    assert driver.timers["session", member_id] == driver.now_ms + 10_000


def test_commit_of_an_unknown_member_is_unknown_member_id() -> None:
    driver, _ = completing()
    assert driver.commit("stranger") is E.UNKNOWN_MEMBER_ID


def test_commit_of_another_generation_is_illegal_generation() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    assert driver.commit(member_id, generation=2) is E.ILLEGAL_GENERATION
    assert driver.commit(member_id, generation=-1) is E.ILLEGAL_GENERATION


def test_commit_without_a_generation_while_the_group_has_members_is_unknown_member_id() -> None:
    driver = Driver()
    driver.formed(None)
    assert driver.commit("", generation=-1) is E.UNKNOWN_MEMBER_ID
    driver, _ = completing()
    assert driver.commit("", generation=-1) is E.UNKNOWN_MEMBER_ID


def test_commit_with_an_instance_of_another_member_id_is_fenced_instance_id() -> None:
    driver = Driver()
    driver.formed("one")
    assert driver.commit("old", instance_id="one") is E.FENCED_INSTANCE_ID


@pytest.mark.parametrize(
    ("member_id", "instance_id", "generation", "error"),
    [
        ("", None, -1, NONE),  # before KIP-447 nobody says who it is
        ("stranger", None, 1, E.UNKNOWN_MEMBER_ID),
        ("one-1", "one", 7, E.ILLEGAL_GENERATION),
        ("old", "one", 1, E.FENCED_INSTANCE_ID),
        ("one-1", "one", 1, NONE),
    ],
)
def test_a_transactional_commit_is_checked_only_if_it_says_who_it_is(
    member_id: str, instance_id: str | None, generation: int, error: ErrorCode
) -> None:
    driver = Driver()
    driver.formed("one")
    checked = driver.group.check_transactional_commit(
        member_id=member_id, instance_id=instance_id, generation=generation
    )
    assert checked is error


def test_a_transactional_commit_with_a_generation_to_an_empty_group_is_unknown_member_id() -> None:
    error = Driver().group.check_transactional_commit(
        member_id="somebody", instance_id=None, generation=3
    )
    assert error is E.UNKNOWN_MEMBER_ID


# The log refuses the group


@pytest.mark.parametrize(
    ("refusal", "heard"),
    [
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.REQUEST_TIMED_OUT, E.REBALANCE_IN_PROGRESS),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.RECORD_LIST_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.INVALID_FETCH_SIZE, E.UNKNOWN_SERVER_ERROR),
        (E.CORRUPT_MESSAGE, E.CORRUPT_MESSAGE),
    ],
)
def test_when_the_log_refuses_the_assignments_all_hear_what_it_means_and_rejoin(
    refusal: ErrorCode, heard: ErrorCode
) -> None:
    driver = Driver()
    driver.commits_at_once = False
    first, second = driver.ask_join(), driver.ask_join(protocols=RANGE)
    driver.advance(2 * DELAY_MS)
    syncs = [driver.ask_sync(answer.member_id) for [answer] in (second, first)]
    driver.refuse(refusal)
    assert syncs == [[SyncAnswer(heard)], [SyncAnswer(heard)]]
    assert driver.state() is GroupState.PREPARING_REBALANCE
    assert driver.group.generation == 1
