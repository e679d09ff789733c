"""A group comes back from its log and goes when its partition is led elsewhere; room in a group."""

from __future__ import annotations

from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.requests import JoinAnswer, Leaving, SyncAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.group_metadata import GroupMetadataValue, MemberMetadata
from tests.unit.coordinators.groups.driver import (
    DELAY_MS,
    NONE,
    RANGE,
    SESSION_MS,
    SETTINGS,
    Driver,
    assignment,
    subscription,
)

NOT_COORDINATOR = ErrorCode.NOT_COORDINATOR


def loaded(value: GroupMetadataValue | None) -> Group:
    driver = Driver()
    driver.group.apply(value, now_ms=driver.now_ms)
    return driver.group


def test_a_loaded_group_keeps_ids_generation_and_assignments_so_that_members_go_on() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, "two")
    since_ms = driver.group.state_changed_ms
    driver.reload()
    assert driver.state() is GroupState.STABLE
    assert driver.group.leader_id == leader
    assert driver.heartbeat(leader) is NONE
    [answer] = driver.ask_sync(follower, instance_id="two")
    assert answer == SyncAnswer(NONE, "consumer", "range", assignment(orders=[1]))
    assert driver.group.subscribed_topics == frozenset({"orders"})
    # The record was written before the group was stable.
    assert driver.group.state_changed_ms is not None
    assert since_ms is not None
    assert driver.group.state_changed_ms <= since_ms


def test_the_sessions_of_loaded_members_begin_anew() -> None:
    driver = Driver()
    leader, silent = driver.formed(None, None)
    driver.advance(SESSION_MS - 1, alive=(leader,))
    driver.reload()
    assert driver.timers["session", silent] == driver.now_ms + SESSION_MS
    driver.advance(SESSION_MS, alive=(leader,))
    assert silent not in driver.group.members


def test_a_loaded_static_member_is_known_by_its_instance() -> None:
    driver = Driver()
    driver.formed("one")
    driver.reload()
    [answer] = driver.ask_join(instance_id="one")
    assert answer.generation == 1
    assert driver.state() is GroupState.STABLE


def test_a_loaded_empty_group_is_empty() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.leave(Leaving(member_id))
    driver.reload()
    assert driver.state() is GroupState.EMPTY
    assert driver.group.generation == 2
    assert driver.group.subscribed_topics == frozenset()
    assert not driver.timers


def test_a_tombstone_leaves_a_dead_group_and_a_later_record_revives_it() -> None:
    group = loaded(None)
    assert group.state is GroupState.DEAD
    value = GroupMetadataValue(
        protocol_type="", generation=0, protocol=None, leader=None, members=[]
    )
    group.apply(value, now_ms=0)
    assert (group.state, group.protocol_type) == (GroupState.EMPTY, None)
    assert group.state_changed_ms is None
    assert group.subscribed_topics is None


def test_a_record_without_rebalance_timeout_means_the_session_timeout() -> None:
    member = MemberMetadata(
        member_id="m",
        client_id="c",
        client_host="/h",
        session_timeout=7_000,
        subscription=b"",
        assignment=b"",
    )
    group = loaded(
        GroupMetadataValue(
            protocol_type="consumer", generation=3, protocol="range", leader=None, members=[member]
        )
    )
    assert group.members["m"].rebalance_timeout_ms == 7_000
    assert group.leader_id == "m"
    assert group.subscribed_topics is None  # its subscription cannot be read


def test_an_unloaded_group_tells_all_who_wait_to_join_that_it_is_led_elsewhere() -> None:
    driver = Driver()
    waiting = [driver.ask_join(), driver.ask_join()]
    driver.carry_out(driver.group.unload(now_ms=driver.now_ms))
    assert [answers for answers in waiting] == [
        [JoinAnswer(NOT_COORDINATOR, "client-1")],
        [JoinAnswer(NOT_COORDINATOR, "client-2")],
    ]
    assert driver.state() is GroupState.DEAD
    assert not driver.timers


def test_an_unloaded_group_tells_all_who_wait_for_assignments_once() -> None:
    driver = Driver()
    first, second = driver.ask_join(), driver.ask_join()
    driver.advance(2 * DELAY_MS)
    driver.commits_at_once = False
    syncs = [driver.ask_sync(answer.member_id) for [answer] in (second, first)]
    driver.carry_out(driver.group.unload(now_ms=driver.now_ms))
    assert syncs == [[SyncAnswer(NOT_COORDINATOR)]] * 2
    driver.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert [len(answers) for answers in syncs] == [1, 1]
    assert driver.group.timer_due(("session", first[0].member_id), now_ms=driver.now_ms) == []


def test_an_unloaded_group_answers_a_restart_that_waits_for_the_log() -> None:
    driver = Driver()
    driver.formed("one")
    driver.commits_at_once = False
    answers = driver.ask_join(instance_id="one")
    driver.carry_out(driver.group.unload(now_ms=driver.now_ms))
    driver.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert answers == [JoinAnswer(NOT_COORDINATOR, "one-2")]


def test_a_loaded_group_over_its_maximum_rebalances_and_who_comes_last_finds_no_room() -> None:
    driver = Driver()
    ids = driver.formed(None, None, None)
    driver.settings = SETTINGS._replace(max_size=2)
    driver.reload()
    assert driver.state() is GroupState.PREPARING_REBALANCE
    assert all(driver.commit(id) is NONE for id in ids)
    answers = [driver.ask_join(member_id=id) for id in ids]
    assert answers[2] == [JoinAnswer(ErrorCode.GROUP_MAX_SIZE_REACHED, "")]
    assert [answer.generation for [answer] in answers[:2]] == [2, 2]
    assert list(driver.group.members) == ids[:2]


def test_members_of_a_full_group_may_rejoin_it() -> None:
    driver = Driver(SETTINGS._replace(max_size=2))
    leader, follower = driver.formed(None, None)
    driver.ask_join(member_id=leader)
    answers = driver.ask_join(member_id=follower)
    assert answers[0].generation == 2


def test_a_new_member_finds_no_room_while_as_many_as_may_be_wait_to_join() -> None:
    driver = Driver(SETTINGS._replace(max_size=1))
    driver.ask_join()
    assert driver.refused_join() is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_a_pending_member_that_finds_no_room_is_forgotten() -> None:
    driver = Driver(SETTINGS._replace(max_size=1))
    [given] = driver.ask_join(requires_known_member_id=True, client_id="late")
    driver.formed(None)
    assert driver.refused_join(member_id=given.member_id) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert driver.group.pending_members == ()


def test_a_static_member_of_a_full_group_finds_no_room_when_it_restarts_as_in_kafka() -> None:
    driver = Driver(SETTINGS._replace(max_size=1))
    driver.formed("one")
    assert driver.refused_join(instance_id="one") is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_the_subscribed_topics_are_those_of_all_members_of_a_group_of_consumers() -> None:
    driver = Driver()
    assert driver.group.subscribed_topics is None
    driver.ask_join(protocols=(("range", subscription("orders", "payments")),))
    driver.ask_join(protocols=(("range", subscription("returns")),))
    driver.advance(2 * DELAY_MS)
    assert driver.group.subscribed_topics == frozenset({"orders", "payments", "returns"})


def test_a_later_version_of_a_subscription_is_read_as_far_as_it_is_known() -> None:
    driver = Driver()
    data = subscription("orders")
    driver.ask_join(protocols=(("range", b"\x00\x03" + data[2:] + b"\xff" * 8),))
    driver.advance(DELAY_MS)
    assert driver.group.subscribed_topics == frozenset({"orders"})


def test_the_subscribed_topics_of_other_groups_and_of_unreadable_bytes_cannot_be_known() -> None:
    for changes in ({"protocol_type": "connect"}, {"protocols": (("range", b"\x00"),)}):
        driver = Driver()
        driver.formed(None, **changes)
        assert driver.group.subscribed_topics is None
        assert driver.state() is GroupState.STABLE


def test_a_group_told_its_record_writes_what_kafka_would_read() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    record = driver.group.metadata_record({member_id: b"x"})
    assert record.value is not None
    assert record.value.endswith(b"\x00\x00\x00\x01x")
    assert RANGE[0][1] in record.value
