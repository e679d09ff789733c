"""Members before their coordinator: who is turned away before a group is asked, and who is not."""

from __future__ import annotations

import pytest

from ottla.coordinators.groups.answers import DescribedGroup, DescribedMember, ListedGroup
from ottla.coordinators.groups.requests import LeaveAnswer, Leaving
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import RANGE, SESSION_MS
from tests.unit.coordinators.groups.world import NONE, World
from tests.virtual_time import on_virtual_time

HERE = "readers"  # in partition 0, 1 or 2
UNKNOWN_MEMBER = ErrorCode.UNKNOWN_MEMBER_ID


def elsewhere(world: World) -> str:
    """A group whose partition is led by another broker."""
    names = (f"group-{number}" for number in range(100))
    return next(name for name in names if world.coordinator.partition_for(name) == 3)


async def answers_of_all(world: World, group_id: str) -> dict[str, ErrorCode]:
    """What every request hears that names this group."""
    [join] = world.ask_join(group_id)
    [sync] = world.ask_sync(group_id, "m")
    [leave] = world.ask_leave(group_id, Leaving("m"))
    return {
        "join": join.error,
        "sync": sync.error,
        "heartbeat": world.heartbeat(group_id, "m"),
        "leave": leave.error,
        "commit": await world.commit(group_id, "orders", 0, 1),
        "fetch": world.coordinator.fetch(group_id, None)[0],
        "delete offsets": (await world.delete_offsets(group_id, ("orders", 0))).error,
        "delete": (await world.delete_groups(group_id))[group_id],
        "describe": world.coordinator.describe(group_id).error,
    }


@on_virtual_time
async def test_who_asks_the_wrong_broker_hears_so() -> None:
    world = await World().start()
    answers = await answers_of_all(world, elsewhere(world))
    assert set(answers.values()) == {ErrorCode.NOT_COORDINATOR}


@on_virtual_time
async def test_before_it_starts_and_after_it_stops_there_is_no_coordinator() -> None:
    world = World()
    for _ in range(2):
        answers = await answers_of_all(world, HERE)
        assert set(answers.values()) == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
        assert world.coordinator.list_groups() == (ErrorCode.COORDINATOR_NOT_AVAILABLE, [])
        await world.start()
        world.coordinator.shut_down()
    assert world.timer.size == 0


@on_virtual_time
async def test_while_it_loads_heartbeats_are_fine_syncs_rejoin_and_others_wait() -> None:
    world = World()
    world.coordinator.start(4)
    for log in world.logs:
        log.holds_reads = True
    await world.reload()
    answers = await answers_of_all(world, HERE)
    assert answers.pop("heartbeat") is NONE
    assert answers.pop("sync") is ErrorCode.REBALANCE_IN_PROGRESS
    assert set(answers.values()) == {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
    assert world.coordinator.list_groups()[0] is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@on_virtual_time
async def test_a_group_without_a_name_has_no_members_but_may_have_offsets() -> None:
    world = await World().start()
    answers = await answers_of_all(world, "")
    for api in ("join", "sync", "heartbeat", "leave", "delete offsets"):
        assert answers.pop(api) is ErrorCode.INVALID_GROUP_ID
    assert set(answers.values()) == {NONE}


@on_virtual_time
async def test_nobody_is_a_member_of_a_group_that_does_not_exist() -> None:
    world = await World().start()
    [join] = world.ask_join(HERE, member_id="m")
    assert (join.error, join.member_id) == (UNKNOWN_MEMBER, "m")
    assert world.ask_sync(HERE, "m")[0].error is UNKNOWN_MEMBER
    assert world.heartbeat(HERE, "m") is UNKNOWN_MEMBER
    leaving = Leaving("m")
    assert world.ask_leave(HERE, leaving) == [LeaveAnswer(NONE, ((leaving, UNKNOWN_MEMBER),))]
    assert world.listed() == {}


@pytest.mark.parametrize("session_timeout_ms", [5_999, 1_800_001])
def test_a_session_timeout_beyond_the_limits_leaves_no_group_behind(
    session_timeout_ms: int,
) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        [answer] = world.ask_join(HERE, session_timeout_ms=session_timeout_ms)
        assert answer.error is ErrorCode.INVALID_SESSION_TIMEOUT
        assert world.listed() == {}

    test()


@on_virtual_time
async def test_a_group_is_formed_and_its_members_named_by_chance_that_comes_from_outside() -> None:
    world = await World().start()
    member_id = await world.formed(HERE)
    assert member_id == "client-00000000-0000-4000-8000-000000000001"
    assert world.heartbeat(HERE, member_id) is NONE
    assert world.listed() == {HERE: "Stable"}


@on_virtual_time
async def test_a_silent_member_is_evicted_and_one_that_is_heard_is_not() -> None:
    world = await World().start()
    member_id = await world.formed(HERE)
    for _ in range(5):
        await world.wait(SESSION_MS - 1)
        assert world.heartbeat(HERE, member_id) is NONE
    await world.wait(SESSION_MS)
    assert world.heartbeat(HERE, member_id) is UNKNOWN_MEMBER


@on_virtual_time
async def test_committing_keeps_a_session_too() -> None:
    world = await World().start()
    member_id = await world.formed(HERE)
    await world.wait(SESSION_MS - 1)
    assert await world.commit(HERE, "orders", 0, 5, member_id=member_id, generation=1) is NONE
    await world.wait(SESSION_MS - 1)
    assert world.heartbeat(HERE, member_id) is NONE


@on_virtual_time
async def test_a_member_costs_one_timer_however_often_it_is_heard() -> None:
    world = await World().start()
    nobody = world.timer.size
    member_id = await world.formed(HERE)
    for _ in range(100):
        await world.wait(100)
        assert world.heartbeat(HERE, member_id) is NONE
        assert world.timer.size == nobody + 1


@on_virtual_time
async def test_a_stable_group_is_described_with_protocol_and_assignments() -> None:
    world = await World().start()
    member_id = await world.formed(HERE, instance_id="one")
    member = DescribedMember(member_id, "one", "client", "/10.0.0.1", RANGE[0][1], b"all")
    expected = DescribedGroup(NONE, "Stable", "consumer", "range", (member,))
    assert world.coordinator.describe(HERE) == expected


@on_virtual_time
async def test_a_group_that_rebalances_is_described_without_them() -> None:
    world = await World().start()
    world.ask_join(HERE)
    described = world.coordinator.describe(HERE)
    assert described[1:4] == ("PreparingRebalance", "consumer", "")
    assert [each[4:] for each in described.members] == [(b"", b"")]


@on_virtual_time
async def test_a_group_that_nobody_knows_is_described_as_dead() -> None:
    world = await World().start()
    assert world.coordinator.describe(HERE) == DescribedGroup(NONE, "Dead")


@on_virtual_time
async def test_groups_are_listed_by_state_and_type_whatever_their_case() -> None:
    world = await World().start()
    await world.formed(HERE)
    await world.commit("simple", "orders", 0, 1)
    stable = ListedGroup(HERE, "consumer", "Stable", "classic")
    empty = ListedGroup("simple", "", "Empty", "classic")
    listed = world.coordinator.list_groups
    assert sorted(listed()[1]) == [stable, empty]
    assert listed(["stable", "dead"]) == (NONE, [stable])
    assert listed(["EMPTY"], ["Classic"]) == (NONE, [empty])
    assert listed([], ["consumer"]) == (NONE, [])


@on_virtual_time
async def test_the_first_join_of_a_client_that_can_be_told_its_id_leaves_an_empty_group() -> None:
    world = await World().start()
    [answer] = world.ask_join(HERE, requires_known_member_id=True)
    assert answer.error is ErrorCode.MEMBER_ID_REQUIRED
    world.coordinator.tend()
    await world.settle()
    # It is about to come back: the group waits for it.
    assert world.listed() == {HERE: "Empty"}
    await world.wait(SESSION_MS)
    world.coordinator.tend()
    await world.settle()
    assert world.listed() == {}
