"""What the history tells of rebalances: why, who, how long, and what moved where."""

from __future__ import annotations

import json

from ottla.coordinators.groups.forensics import MOST_CAUSES, MOST_MOVES, Rebalance, RebalanceHistory
from ottla.coordinators.groups.requests import Leaving
from ottla.coordinators.groups.witness import Cause, Caused, Outcome, Who
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import (
    BEGINNING_MS,
    DELAY_MS,
    RANGE,
    REBALANCE_MS,
    SETTINGS,
    Driver,
    assignment,
    owning,
    subscription,
)


def last(driver: Driver) -> Rebalance:
    return driver.history.rebalances()[-1]


def moved(rebalance: Rebalance) -> list[tuple[str, int, str | None, str | None]]:
    return [
        (
            move.topic,
            move.partition,
            move.was and move.was.member_id,
            move.now and move.now.member_id,
        )
        for move in rebalance.moves
    ]


def rejoin(driver: Driver, *ids: str) -> None:
    for id in ids:
        driver.ask_join(member_id=id)


def give(driver: Driver, **shares: bytes) -> None:
    leader = driver.group.leader_id or ""
    named = {id.replace("_", "-"): share for id, share in shares.items()}
    for id in sorted(named, key=leader.__ne__):
        driver.ask_sync(id, named)


def test_the_first_rebalance_tells_who_came_and_how_long_it_waited() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    [rebalance] = driver.history.rebalances("readers")
    who = Who(member_id, "client0", "/10.0.0.1", None)
    assert rebalance.causes == [Caused(Cause.MEMBER_JOINED, who, None, BEGINNING_MS)]
    assert (rebalance.generation_before, rebalance.generation_after) == (0, 1)
    assert rebalance.joined_ms == rebalance.ended_ms == BEGINNING_MS + DELAY_MS
    assert rebalance.stood_still_ms == DELAY_MS
    assert (rebalance.outcome, rebalance.protocol) == (Outcome.ASSIGNED, "range")
    assert moved(rebalance) == [("orders", 0, None, member_id)]


def test_a_joining_member_takes_a_partition_from_another_and_says_why_it_came() -> None:
    driver = Driver()
    driver.ask_join()
    driver.advance(DELAY_MS)
    give(driver, client_1=assignment(orders=[0, 1], payments=[7]))
    began_ms = driver.now_ms
    driver.ask_join(reason="need to join", client_id="second")
    driver.advance(2_000)
    rejoin(driver, "client-1")
    driver.advance(500)
    give(driver, client_1=assignment(orders=[0], payments=[7]), second_2=assignment(orders=[1]))
    rebalance = last(driver)
    assert rebalance.causes[0].reason == "need to join"
    assert (rebalance.began_ms, rebalance.stood_still_ms) == (began_ms, 2_500)
    assert (rebalance.joined_ms, rebalance.ended_ms) == (began_ms + 2_000, began_ms + 2_500)
    assert moved(rebalance) == [("orders", 1, "client-1", "second-2")]
    assert rebalance.member_count == 2


def test_a_cooperative_move_takes_two_rebalances_and_the_second_knows_whose_it_was() -> None:
    driver = Driver()
    cooperative = (("cooperative-sticky", subscription("orders")),)
    driver.ask_join(protocols=cooperative)
    driver.advance(DELAY_MS)
    give(driver, client_1=assignment(orders=[0, 1]))
    driver.ask_join(protocols=cooperative)
    driver.ask_join(member_id="client-1", protocols=cooperative)
    give(driver, client_1=assignment(orders=[0]), client_2=assignment(orders=[]))
    assert moved(last(driver)) == [("orders", 1, "client-1", None)]
    driver.ask_join(member_id="client-1", protocols=cooperative)
    driver.ask_join(member_id="client-2", protocols=cooperative)
    give(driver, client_1=assignment(orders=[0]), client_2=assignment(orders=[1]))
    rebalance = last(driver)
    assert rebalance.causes[0].cause is Cause.LEADER_REJOINED
    assert moved(rebalance) == [("orders", 1, "client-1", "client-2")]
    assert driver.history.moved_count == 2 + 1 + 1


def test_a_cooperative_member_that_gave_up_partitions_has_not_changed_what_it_wants() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None)
    owns = [(("range", owning(RANGE[0][1], orders=[number])),) for number in (0, 1)]
    driver.ask_join(member_id=follower, protocols=owns[1], reason="need to revoke partitions")
    driver.ask_join(member_id=leader, protocols=owns[0])
    [caused] = last(driver).causes
    assert (caused.cause, caused.reason) == (Cause.MEMBER_REJOINED, "need to revoke partitions")


def test_a_static_member_that_restarted_has_not_lost_what_it_has_again() -> None:
    driver = Driver()
    leader, _ = driver.formed("one", "two")
    driver.ask_join(instance_id="two")
    assert len(driver.history.rebalances()) == 1
    driver.ask_join(member_id=leader, instance_id="one")
    driver.ask_join(member_id="two-3", instance_id="two")
    driver.share_out([leader, "two-3"])
    assert moved(last(driver)) == []


def test_each_cause_is_told_by_its_name() -> None:
    driver = Driver()
    leader, follower = driver.formed(None, None, session_timeout_ms=20_000)
    causes = [last(driver).causes[0].cause]

    def settle(*ids: str) -> None:
        causes.append(last(driver).causes[0].cause)
        rejoin(driver, *ids)
        driver.share_out(list(driver.group.members))

    driver.ask_join(member_id=leader, reason="cached metadata has changed")
    assert last(driver).causes[0].reason == "cached metadata has changed"
    settle(follower)
    driver.ask_join(member_id=follower, protocols=(("range", subscription("orders", "more")),))
    settle(leader)
    driver.advance(19_000, alive=(leader,))
    driver.advance(1_000)
    settle(leader)
    driver.ask_join(instance_id="one")
    settle(leader)
    driver.ask_join(instance_id="one", protocols=(("range", b"x"), *RANGE[1:]))
    driver.leave(Leaving("", "one", reason="kicked"))
    assert last(driver).causes[0].reason == "kicked"
    settle(leader)
    assert causes == [
        Cause.MEMBER_JOINED,
        Cause.LEADER_REJOINED,
        Cause.METADATA_CHANGED,
        Cause.SESSION_EXPIRED,
        Cause.MEMBER_JOINED,
        Cause.MEMBER_LEFT,
    ]


def test_a_restart_that_must_rebalance_names_the_static_member() -> None:
    driver = Driver()
    driver.ask_join(instance_id="one")
    driver.advance(DELAY_MS)
    driver.ask_join(instance_id="one")
    [interrupted, rebalance] = driver.history.rebalances()
    assert interrupted.outcome is Outcome.INTERRUPTED
    assert interrupted.stood_still_ms is None
    assert rebalance.causes[0].cause is Cause.STATIC_REPLACED
    assert rebalance.causes[0].who == Who("one-2", "client", "/10.0.0.1", "one")


def test_after_an_interrupted_rebalance_consumption_stands_still_since_that_began() -> None:
    driver = Driver()
    [leader] = driver.formed(None)
    began_ms = driver.now_ms
    driver.ask_join(member_id=leader)
    driver.advance(1_000)
    second = driver.ask_join()
    rejoin(driver, leader)
    driver.advance(2_000)
    driver.share_out([leader, second[0].member_id])
    rebalance = last(driver)
    assert (rebalance.began_ms, rebalance.stood_still_ms) == (began_ms + 1_000, 3_000)
    assert driver.history.stood_still_ms == DELAY_MS + 3_000


def test_who_comes_and_goes_during_a_rebalance_is_told_too() -> None:
    driver = Driver()
    leader, follower, third = driver.formed(None, None, None, session_timeout_ms=200_000)
    driver.ask_join(client_id="new")
    driver.leave(Leaving(third))
    rejoin(driver, leader)
    driver.advance(REBALANCE_MS)
    causes = [(caused.cause, caused.who and caused.who.member_id) for caused in last(driver).causes]
    assert causes == [
        (Cause.MEMBER_JOINED, "new-4"),
        (Cause.MEMBER_LEFT, third),
        (Cause.JOIN_TIMED_OUT, follower),
    ]


def test_members_that_do_not_sync_are_the_cause() -> None:
    driver = Driver()
    first, second = driver.ask_join(), driver.ask_join()
    driver.advance(2 * DELAY_MS)
    driver.ask_sync(second[0].member_id)
    driver.advance(REBALANCE_MS, alive=(first[0].member_id,))
    caused = last(driver).causes[0]
    assert caused.cause is Cause.SYNC_TIMED_OUT
    assert caused.who is not None
    assert caused.who.member_id == first[0].member_id


def test_an_assignment_that_the_log_refuses_is_a_cause_with_its_error() -> None:
    driver = Driver()
    driver.commits_at_once = False
    answers = driver.ask_join()
    driver.advance(DELAY_MS)
    driver.ask_sync(answers[0].member_id)
    driver.refuse(ErrorCode.NOT_ENOUGH_REPLICAS)
    caused = last(driver).causes[0]
    assert (caused.cause, caused.reason) == (Cause.NOT_STORED, "NOT_ENOUGH_REPLICAS")


def test_a_loaded_group_over_its_maximum_is_a_cause_and_knows_what_members_had() -> None:
    driver = Driver()
    ids = driver.formed(None, None)
    driver.settings = SETTINGS._replace(max_size=1)
    driver.reload()
    rejoin(driver, *ids)
    driver.share_out(ids[:1])
    rebalance = last(driver)
    assert rebalance.causes[0].cause is Cause.OVER_CAPACITY
    assert moved(rebalance) == [("orders", 1, ids[1], None)]


def test_a_deleted_topic_is_the_cause_when_the_leader_rejoins_and_its_partitions_are_gone() -> None:
    driver = Driver()
    driver.ask_join()
    driver.advance(DELAY_MS)
    give(driver, client_1=assignment(orders=[0], payments=[0]))
    driver.advance(1)
    driver.history.topic_deleted("payments", now_ms=driver.now_ms)
    rejoin(driver, "client-1")
    give(driver, client_1=assignment(orders=[0]))
    caused = last(driver).causes[0]
    assert (caused.cause, caused.reason) == (Cause.TOPIC_DELETED, "payments")
    assert driver.history.began_count[Cause.TOPIC_DELETED] == 1
    assert driver.history.began_count[Cause.LEADER_REJOINED] == 0


def test_an_emptied_group_and_an_unloaded_one_end_without_assignments() -> None:
    driver = Driver()
    [member_id] = driver.formed(None)
    driver.leave(Leaving(member_id))
    assert last(driver).outcome is Outcome.EMPTY
    assert moved(last(driver)) == [("orders", 0, member_id, None)]
    driver.ask_join()
    driver.carry_out(driver.group.unload(now_ms=driver.now_ms))
    assert last(driver).outcome is Outcome.UNLOADED
    assert driver.history.ended_count == {
        Outcome.ASSIGNED: 1,
        Outcome.EMPTY: 1,
        Outcome.INTERRUPTED: 0,
        Outcome.UNLOADED: 1,
    }


def test_groups_that_are_no_consumers_have_no_partitions() -> None:
    driver = Driver()
    driver.formed(None, protocol_type="connect")
    assert last(driver).moved_count == 0


def test_only_the_last_thousand_rebalances_are_kept_but_all_are_counted() -> None:
    history = RebalanceHistory()
    for number in range(1_100):
        caused = Caused(Cause.MEMBER_JOINED, None, None, number)
        history.began("readers", caused, generation=number)
        history.ended(
            "readers", Outcome.EMPTY, {}, generation=number + 1, protocol_type="", now_ms=number
        )
    kept = history.rebalances()
    assert [kept[0].generation_before, kept[-1].generation_before] == [100, 1_099]
    assert history.began_count[Cause.MEMBER_JOINED] == 1_100


def test_one_rebalance_cannot_fill_the_memory() -> None:
    driver = Driver()
    waiting = [driver.ask_join() for _ in range(MOST_CAUSES + 5)]
    driver.advance(2 * DELAY_MS)
    leader = waiting[0][0].member_id
    driver.ask_sync(leader, {leader: assignment(orders=list(range(MOST_MOVES + 7)))})
    rebalance = last(driver)
    assert (len(rebalance.causes), rebalance.cause_count) == (MOST_CAUSES, MOST_CAUSES + 5)
    assert (len(rebalance.moves), rebalance.moved_count) == (MOST_MOVES, MOST_MOVES + 7)


def test_the_history_is_json() -> None:
    driver = Driver()
    [member_id] = driver.formed("one")
    driver.ask_join(member_id=member_id, instance_id="one")
    [first, second] = json.loads(json.dumps(driver.history.as_json("readers")))
    who = {
        "member_id": member_id,
        "client_id": "client0",
        "client_host": "/10.0.0.1",
        "instance_id": "one",
    }
    assert first["moves"] == [{"topic": "orders", "partition": 0, "from": None, "to": who}]
    assert first["causes"][0] == {
        "cause": "member joined",
        "who": who,
        "reason": None,
        "at_ms": BEGINNING_MS,
    }
    assert (first["outcome"], first["stood_still_ms"]) == ("assigned", DELAY_MS)
    assert second["cause"] == "leader rejoined"
    assert driver.history.as_json("others") == []
