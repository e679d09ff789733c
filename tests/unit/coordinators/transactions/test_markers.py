"""Markers go to every partition of a transaction, until each has written its own."""

from __future__ import annotations

import pytest

from ottla.coordinators.transactions.requests import Marker
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.transactions.world import NONE, ORDERS, World
from tests.virtual_time import on_virtual_time

E = ErrorCode
SHOP = "shop"


@pytest.mark.parametrize("commit", [True, False])
def test_each_leader_is_sent_one_marker_with_its_partitions(commit: bool) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        world.brokers.leaders = {ORDERS[1]: 7}
        who = await world.begun(SHOP)
        await world.end(SHOP, who, commit=commit)
        assert world.brokers.sent == [
            (0, [Marker(who.producer_id, 0, world.epoch, commit, (ORDERS[0], ORDERS[2]))]),
            (7, [Marker(who.producer_id, 0, world.epoch, commit, (ORDERS[1],))]),
        ]

    test()


@on_virtual_time
async def test_what_ends_in_one_round_goes_to_a_leader_in_one_request() -> None:
    world = await World().start()
    number = world.coordinator.partition_for(SHOP)
    names = [f"id-{each}" for each in range(20)]
    same = [name for name in names if world.coordinator.partition_for(name) == number]
    producers = [await world.begun(name) for name in same]
    for name, who in zip(same, producers, strict=True):
        world.ask_end(name, who, commit=True)
    await world.settle()
    [(_, markers)] = world.brokers.sent
    assert [marker.producer_id for marker in markers] == [who.producer_id for who in producers]
    assert {world.state_of(name) for name in same} == {"CompleteCommit"}


@on_virtual_time
async def test_a_transaction_without_partitions_is_complete_at_once() -> None:
    world = await World().start()
    who = await world.begun(SHOP, ())
    await world.end(SHOP, who, commit=True)
    assert (world.state_of(SHOP), world.brokers.sent) == ("CompleteCommit", [])


@pytest.mark.parametrize(
    "error",
    [
        E.UNKNOWN_TOPIC_OR_PARTITION,
        E.NOT_LEADER_OR_FOLLOWER,
        E.NOT_ENOUGH_REPLICAS,
        E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        E.REQUEST_TIMED_OUT,
        E.KAFKA_STORAGE_ERROR,
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.UNKNOWN_SERVER_ERROR,
    ],
)
def test_a_partition_that_refused_is_asked_again_and_the_others_are_not(error: ErrorCode) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        who = await world.begun(SHOP)
        world.brokers.errors = {ORDERS[1]: error}
        await world.end(SHOP, who, commit=True)
        assert world.coordinator.unknown_destination_count == 1
        await world.wait(500)
        assert world.state_of(SHOP) == "PrepareCommit"
        world.brokers.errors = {}
        world.brokers.leaders = {ORDERS[1]: 7}  # somebody else may lead it by now
        await world.wait(1_000)
        assert world.state_of(SHOP) == "CompleteCommit"
        assert set(world.brokers.partitions()[3:]) == {ORDERS[1]}
        assert world.brokers.sent[-1][0] == 7

    test()


@on_virtual_time
async def test_the_waits_between_grow_to_a_second_and_no_longer() -> None:
    world = await World().start()
    who = await world.begun(SHOP, ORDERS[:1])
    world.brokers.error = E.NOT_LEADER_OR_FOLLOWER
    await world.end(SHOP, who, commit=True)
    counts = []
    for milliseconds in (19, 1, 40, 80, 160, 320, 640, 1_000, 1_000, 999, 1):
        await world.wait(milliseconds)
        counts.append(len(world.brokers.sent))
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10]


@on_virtual_time
async def test_a_leader_that_cannot_be_reached_is_asked_again() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.error = None
    await world.end(SHOP, who, commit=True)
    world.brokers.error = NONE
    await world.wait(20)
    assert world.state_of(SHOP) == "CompleteCommit"
    assert world.brokers.partitions() == [*ORDERS, *ORDERS]


@on_virtual_time
async def test_one_that_is_slow_does_not_hold_up_another_that_is_asked_again() -> None:
    world = await World().start()
    world.brokers.leaders = {ORDERS[1]: 7}
    who = await world.begun(SHOP)
    world.brokers.answers_at_once = False
    await world.end(SHOP, who, commit=True)
    slow = world.brokers.unanswered.pop()
    world.brokers.error = E.NOT_LEADER_OR_FOLLOWER
    world.brokers.answer()
    world.brokers.error = NONE
    await world.wait(20)
    world.brokers.answer()
    assert world.coordinator.describe(SHOP).partitions == (ORDERS[1],)
    slow()
    await world.settle()
    assert world.state_of(SHOP) == "CompleteCommit"


@on_virtual_time
async def test_a_partition_without_a_leader_waits_for_one() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.leaders = {ORDERS[0]: -1, ORDERS[1]: -1}
    await world.end(SHOP, who, commit=True)
    assert world.coordinator.unknown_destination_count == 2
    assert world.brokers.partitions() == [ORDERS[2]]
    await world.wait(5_000)
    world.brokers.leaders = {}
    await world.wait(1_000)
    assert world.state_of(SHOP) == "CompleteCommit"
    assert world.coordinator.unknown_destination_count == 0


@on_virtual_time
async def test_a_topic_that_is_gone_needs_no_marker() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.leaders = {ORDERS[0]: None, ORDERS[1]: None}
    await world.end(SHOP, who, commit=True)
    assert world.state_of(SHOP) == "CompleteCommit"
    assert world.brokers.partitions() == [ORDERS[2]]


@on_virtual_time
async def test_when_a_topic_goes_nobody_waits_for_it_any_longer() -> None:
    world = await World().start()
    who, other = await world.begun(SHOP), await world.begun("other", [("else", 0)])
    world.brokers.leaders = {ORDERS[0]: -1, ("else", 0): -1}
    await world.end(SHOP, who, commit=True)
    await world.end("other", other, commit=True)
    world.brokers.leaders = {ORDERS[0]: None, ("else", 0): None}
    world.coordinator.topics_deleted(["orders", "unknown"])
    await world.settle()
    assert world.state_of(SHOP) == "CompleteCommit"
    assert world.state_of("other") == "PrepareCommit"  # it will look again itself
    await world.wait(20)
    assert world.state_of("other") == "CompleteCommit"


@pytest.mark.parametrize("error", [E.UNSUPPORTED_FOR_MESSAGE_FORMAT, E.UNSUPPORTED_VERSION])
def test_a_partition_that_cannot_hold_transactions_needs_no_marker(error: ErrorCode) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        who = await world.begun(SHOP)
        world.brokers.errors = {ORDERS[1]: error}
        await world.end(SHOP, who, commit=True)
        assert world.state_of(SHOP) == "CompleteCommit"

    test()


@pytest.mark.parametrize("error", [E.INVALID_PRODUCER_EPOCH, E.TRANSACTION_COORDINATOR_FENCED])
def test_who_was_overtaken_writes_no_more_markers_until_it_is_elected_anew(
    error: ErrorCode,
) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        who = await world.begun(SHOP)
        world.brokers.errors = {ORDERS[1]: error, ORDERS[2]: E.NOT_ENOUGH_REPLICAS}
        await world.end(SHOP, who, commit=True)
        await world.wait(60_000)
        assert len(world.brokers.sent) == 1
        assert world.state_of(SHOP) == "PrepareCommit"
        world.brokers.errors = {}
        await world.reload()
        assert world.state_of(SHOP) == "CompleteCommit"
        assert world.brokers.sent[-1][1][0].coordinator_epoch == 2

    test()


@on_virtual_time
async def test_a_completion_that_the_log_refuses_is_stored_later() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.answers_at_once = False
    await world.end(SHOP, who, commit=True)
    world.log_of(SHOP).refuses_with = E.KAFKA_STORAGE_ERROR
    world.brokers.answer()
    await world.wait(1_050)
    assert world.coordinator.append_retry_count == 1
    assert world.state_of(SHOP) == "PrepareCommit"
    world.log_of(SHOP).refuses_with = None
    await world.wait(100)
    assert world.state_of(SHOP) == "CompleteCommit"
    assert world.coordinator.append_retry_count == 0
    assert len(world.brokers.sent) == 1


@on_virtual_time
async def test_an_answer_that_names_not_every_partition_is_no_answer_for_the_rest() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    [(partition, _)] = world.coordinator.partitions.hosted()
    world.brokers.answers_at_once = False
    world.ask_end(SHOP, who, commit=True)
    await world.settle()
    marking = partition.markings[SHOP]
    [(_, [marker])] = world.brokers.sent
    marking.answered(marker, {(who.producer_id, ORDERS[0]): NONE})
    assert [*marking.lacking] == [*ORDERS[1:]]
