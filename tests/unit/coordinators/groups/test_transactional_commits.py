"""Offsets committed in a transaction: nobody sees them before its marker, and perhaps never."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordinators.groups.answers import OffsetToCommit, TopicPartition
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.control import ControlType, build_end_transaction
from tests.unit.coordinators.groups.world import RETENTION_MS, World
from tests.virtual_time import on_virtual_time

E = ErrorCode
NONE = ErrorCode.NONE
G = "readers"
PLACE, OTHER = ("orders", 0), ("orders", 1)
PRODUCER = 7


def ask(
    world: World,
    offset: int,
    *,
    place: TopicPartition = PLACE,
    group_id: str = G,
    producer_id: int = PRODUCER,
    **who: Any,
) -> list[dict[TopicPartition, ErrorCode]]:
    answers: list[dict[TopicPartition, ErrorCode]] = []
    world.coordinator.commit_transactional(
        group_id,
        [OffsetToCommit(*place, offset)],
        answers.append,
        producer_id=producer_id,
        producer_epoch=0,
        **who,
    )
    return answers


async def commit(world: World, offset: int, **changes: Any) -> ErrorCode:
    answers = ask(world, offset, **changes)
    await world.settle()
    [answer] = answers
    [error] = answer.values()
    return error


def end(world: World, *, is_commit: bool = True, producer_id: int = PRODUCER) -> None:
    """The marker is in the log, and told of."""
    write_marker(world, is_commit=is_commit, producer_id=producer_id)
    number = world.coordinator.partition_for(G)
    world.coordinator.transaction_ended(number, producer_id, is_commit=is_commit)


def write_marker(world: World, *, is_commit: bool = True, producer_id: int = PRODUCER) -> None:
    world.log_of(G).write(
        build_end_transaction(
            ControlType.COMMIT if is_commit else ControlType.ABORT,
            offset=0,
            timestamp=1,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
        )
    )


def unstable(world: World, place: TopicPartition = PLACE) -> bool:
    _, found = world.coordinator.fetch(G, [place], require_stable=True)
    plain = world.coordinator.fetch_plain(G, {place[0]: [place[1]]}, require_stable=True)
    is_unstable = found[place].error is E.UNSTABLE_OFFSET_COMMIT
    assert plain is None or not is_unstable
    return is_unstable


@pytest.mark.parametrize(("is_commit", "offset"), [(True, 5), (False, 1)])
@on_virtual_time
async def test_its_marker_makes_an_offset_visible_or_drops_it(is_commit: bool, offset: int) -> None:
    world = await World().start()
    await world.commit(G, *PLACE, 1)
    assert await commit(world, 5) is NONE
    assert (world.committed(G), unstable(world)) == ({PLACE: 1}, True)
    end(world, is_commit=is_commit)
    assert (world.committed(G), unstable(world)) == ({PLACE: offset}, False)
    await world.reload()
    assert (world.committed(G), unstable(world)) == ({PLACE: offset}, False)


@on_virtual_time
async def test_each_is_a_batch_of_its_transaction_and_plain_ones_are_not() -> None:
    world = await World().start()
    answers = [
        *world.ask_commit(G, OffsetToCommit(*PLACE, 1)),
        *ask(world, 2),
        *ask(world, 3, place=OTHER, producer_id=8),
        *world.ask_commit(G, OffsetToCommit(*OTHER, 4)),
    ]
    await world.settle()
    assert answers == []  # none at once
    assert world.log_of(G).producers == [None, (7, 0), (8, 0), None]


@on_virtual_time
async def test_one_that_is_on_its_way_is_unstable_and_one_that_is_refused_leaves_the_last() -> None:
    world = await World().start()
    assert await commit(world, 5) is NONE
    log = world.log_of(G)
    log.commits_at_once = False
    answers = ask(world, 6)
    assert unstable(world)
    log.commit(E.NOT_ENOUGH_REPLICAS)
    assert answers == [{PLACE: E.COORDINATOR_NOT_AVAILABLE}]
    assert unstable(world)
    end(world)
    assert world.committed(G) == {PLACE: 5}


@on_virtual_time
async def test_a_plain_commit_that_came_later_stays() -> None:
    world = await World().start()
    await commit(world, 5)
    await world.commit(G, *PLACE, 6)
    assert world.committed(G) == {PLACE: 6}
    end(world)
    assert world.committed(G) == {PLACE: 6}
    await world.reload()
    assert world.committed(G) == {PLACE: 6}


@on_virtual_time
async def test_a_plain_commit_of_the_same_round_that_came_first_does_not() -> None:
    world = await World().start()
    world.ask_commit(G, OffsetToCommit(*PLACE, 6))
    ask(world, 5)
    await world.settle()
    end(world)
    assert world.committed(G) == {PLACE: 5}
    await world.reload()
    assert world.committed(G) == {PLACE: 5}


@on_virtual_time
async def test_producers_and_groups_do_not_mix() -> None:
    world = await World().start()
    groups = [f"g{number}" for number in range(40)]
    same = [g for g in groups if world.coordinator.partition_for(g) == 1][:2]
    for number, group in enumerate(same):
        await commit(world, 10 + number, group_id=group)
        await commit(world, 20, group_id=group, place=OTHER, producer_id=8)
    world.coordinator.transaction_ended(1, PRODUCER, is_commit=True)
    assert [world.committed(group) for group in same] == [{PLACE: 10}, {PLACE: 11}]
    world.coordinator.transaction_ended(0, 8, is_commit=True)  # another partition
    world.coordinator.transaction_ended(3, 8, is_commit=True)  # not led here
    world.coordinator.transaction_ended(1, 8, is_commit=False)
    assert [world.committed(group) for group in same] == [{PLACE: 10}, {PLACE: 11}]


@on_virtual_time
async def test_an_open_transaction_is_found_again_and_ended_after_a_load() -> None:
    world = await World().start()
    await world.commit(G, *OTHER, 3)
    await commit(world, 5)
    await world.reload()
    assert (world.committed(G), unstable(world)) == ({OTHER: 3}, True)
    end(world)
    assert (world.committed(G), unstable(world)) == ({OTHER: 3, PLACE: 5}, False)


@pytest.mark.parametrize("is_read", [True, False])
@on_virtual_time
async def test_a_marker_that_comes_during_the_load_counts(is_read: bool) -> None:
    world = await World().start()
    await commit(world, 5)
    log = world.log_of(G)
    log.holds_reads = True
    await world.reload()
    if is_read:
        write_marker(world)
    world.coordinator.transaction_ended(
        world.coordinator.partition_for(G), PRODUCER, is_commit=True
    )
    log.holds_reads = False
    for held in log.held_reads:
        held()
    await world.settle()
    assert world.committed(G) == {PLACE: 5}


@on_virtual_time
async def test_before_version_three_nobody_says_who_it_is_later_only_members_commit() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    assert await commit(world, 1) is NONE
    assert await commit(world, 2, member_id=member_id, generation=1) is NONE
    assert await commit(world, 3, member_id=member_id, generation=2) is E.ILLEGAL_GENERATION
    assert await commit(world, 4, member_id="stranger", generation=1) is E.UNKNOWN_MEMBER_ID
    wrong = await commit(world, 5, member_id=member_id, instance_id="i", generation=1)
    assert wrong is E.UNKNOWN_MEMBER_ID
    end(world)
    assert world.committed(G) == {PLACE: 2}


@on_virtual_time
async def test_a_group_that_nobody_knows_is_made_but_has_no_generation() -> None:
    world = await World().start()
    assert await commit(world, 1, member_id="m", generation=3) is E.UNKNOWN_MEMBER_ID
    assert await commit(world, 1) is NONE
    assert world.listed() == {G: "Empty"}


@on_virtual_time
async def test_who_asks_elsewhere_or_for_no_group_hears_it() -> None:
    world = await World().start()
    away = next(g for g in map(str, range(99)) if world.coordinator.partition_for(g) == 3)
    assert await commit(world, 1, group_id=away) is E.NOT_COORDINATOR
    assert await commit(world, 1, group_id="") is E.INVALID_GROUP_ID
    world.log_of(G).holds_reads = True
    await world.reload()
    assert await commit(world, 1) is E.COORDINATOR_LOAD_IN_PROGRESS
    world.coordinator.shut_down()
    assert await commit(world, 1) is E.COORDINATOR_NOT_AVAILABLE


@on_virtual_time
async def test_a_group_is_kept_while_a_transaction_may_give_it_offsets() -> None:
    world = await World().start()
    await commit(world, 5)
    await world.wait(2 * RETENTION_MS)
    assert world.listed() == {G: "Empty"}
    end(world, is_commit=False)
    await world.wait(RETENTION_MS)
    assert world.listed() == {}


@pytest.mark.parametrize("reloads", [False, True])
@on_virtual_time
async def test_what_is_deleted_while_it_waits_does_not_come_back(reloads: bool) -> None:
    world = await World().start()
    await commit(world, 5)
    await commit(world, 6, place=("kept", 0))
    world.coordinator.topics_deleted(["orders"])
    await world.settle()
    if reloads:
        await world.reload()
    assert not unstable(world)
    end(world)
    assert world.committed(G) == {("kept", 0): 6}
    await world.reload()
    assert world.committed(G) == {("kept", 0): 6}


@on_virtual_time
async def test_a_deleted_group_s_transaction_ends_without_it() -> None:
    world = await World().start()
    await commit(world, 5)
    assert await world.delete_groups(G) == {G: NONE}
    end(world)
    assert world.listed() == {}
    await world.reload()
    assert world.listed() == {}
