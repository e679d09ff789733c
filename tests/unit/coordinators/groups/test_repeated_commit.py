"""One offset that is committed again and again is stored as any other, by whoever still may."""

from __future__ import annotations

import pytest

from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record, RecordRows
from ottla.coordinators.groups.answers import FetchedOffset
from ottla.coordinators.groups.records import (
    CommittedOffset,
    offset_key,
    offset_key_start,
    offset_value,
)
from ottla.coordinators.groups.repeated_commit import Committer, RepeatedCommit
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.coordinated_world import BEGINNING_MS
from tests.unit.coordinators.groups.driver import SESSION_MS
from tests.unit.coordinators.groups.world import NONE, World
from tests.virtual_time import on_virtual_time

G = "readers"
PLACE = ("orders", 7)
E = ErrorCode


def row(offset: int, leader_epoch: int) -> bytes:
    """As they stand in a request."""
    return offset.to_bytes(8, "big", signed=True) + leader_epoch.to_bytes(4, "big", signed=True)


async def repeated(world: World, who: Committer) -> RepeatedCommit:
    """After the first commit."""
    group_id, member_id, instance_id, generation = who
    committed = await world.commit(
        group_id, *PLACE, 1, member_id=member_id, instance_id=instance_id, generation=generation
    )
    assert committed is NONE
    found = world.coordinator.repeated_commit(who, PLACE)
    assert found is not None
    return found


@pytest.mark.parametrize("before", [0, 1, 63, 64, 8_191, 8_192])
@pytest.mark.parametrize("group", [G, G * 50])
@on_virtual_time
async def test_its_record_is_the_one_that_it_stands_for(group: str, before: int) -> None:
    world = await World().start()
    commit = await repeated(world, Committer(group))
    assert commit.begin(row(1 << 40, -1), list[E]().append)
    key = offset_key(offset_key_start(group), *PLACE)
    record = Record(key, offset_value(CommittedOffset(1 << 40, -1, "", BEGINNING_MS)))
    first: list[Record | RecordRows] = [Record(b"k", b"v")] * before
    built = build_coordinator_batch([*first, commit], timestamp=1)
    assert built == build_coordinator_batch([*first, record], timestamp=1)
    assert commit.count == 1
    assert len(commit.encode(before)) <= commit.size_bytes


@on_virtual_time
async def test_it_counts_when_the_log_has_it_and_one_comes_after_the_other() -> None:
    world = await World().start()
    commit, told = await repeated(world, Committer(G)), list[E]()
    world.log_of(G).commits_at_once = False
    assert commit.begin(row(2, 3), told.append)
    assert not commit.begin(row(4, 3), told.append)
    await world.settle()
    _, found = world.coordinator.fetch(G, [PLACE], require_stable=True)
    assert found[PLACE].error is E.UNSTABLE_OFFSET_COMMIT
    assert (world.committed(G), told) == ({PLACE: 1}, [])
    world.log_of(G).commit()
    assert told == [NONE]
    assert world.coordinator.fetch(G, [PLACE], require_stable=True) == (
        NONE,
        {PLACE: FetchedOffset(2, 3, "")},
    )
    assert commit.begin(row(5, 3), told.append)
    assert world.coordinator.committed_count == 3
    await world.settle()
    world.log_of(G).commit()
    await world.reload()
    assert world.committed(G) == {PLACE: 5}


@on_virtual_time
async def test_those_of_one_round_share_a_batch() -> None:
    world = await World().start()
    commits = [await repeated(world, Committer(G)) for _ in range(70)]
    before, told = len(world.log_of(G).appends), list[E]()
    for number, commit in enumerate(commits):
        assert commit.begin(row(number, 0), told.append)
    await world.settle()
    assert told == [NONE] * 70
    assert len(world.log_of(G).appends) == before + 1
    await world.reload()
    assert world.committed(G) == {PLACE: 69}


@on_virtual_time
async def test_what_the_log_refuses_is_told_and_not_applied() -> None:
    world = await World().start()
    commit, told = await repeated(world, Committer(G)), list[E]()
    world.log_of(G).refuses_with = E.NOT_ENOUGH_REPLICAS
    assert commit.begin(row(2, 0), told.append)
    await world.settle()
    assert told == [E.COORDINATOR_NOT_AVAILABLE]
    assert world.committed(G) == {PLACE: 1}
    world.log_of(G).refuses_with = None
    assert commit.begin(row(3, 0), told.append)
    await world.settle()
    assert world.committed(G) == {PLACE: 3}


@on_virtual_time
async def test_whoever_waits_when_the_leader_changes_hears_it_and_can_go_on_with_the_next() -> None:
    world = await World().start()
    commit, told = await repeated(world, Committer(G)), list[E]()
    world.log_of(G).commits_at_once = False
    assert commit.begin(row(2, 0), told.append)
    world.coordinator.resigned(world.coordinator.partition_for(G), None)
    assert told == [E.NOT_COORDINATOR]
    assert not commit.begin(row(3, 0), told.append)
    assert world.coordinator.repeated_commit(Committer(G), PLACE) is None


@on_virtual_time
async def test_a_group_that_is_gone_or_has_members_now_is_another() -> None:
    world = await World().start()
    commit = await repeated(world, Committer(G))
    await world.formed(G)
    assert not commit.begin(row(2, 0), list[E]().append)
    other = await repeated(world, Committer("others"))
    assert await world.delete_groups("others") == {"others": NONE}
    assert not other.begin(row(2, 0), list[E]().append)
    assert world.coordinator.repeated_commit(Committer("others"), PLACE) is None


@on_virtual_time
async def test_a_member_renews_its_session_with_it_until_its_generation_is_over() -> None:
    world = await World().start()
    who = Committer(G, await world.formed(G), None, 1)
    commit, told = await repeated(world, who), list[E]()
    for offset in range(3):
        await world.wait(SESSION_MS - 1)
        assert commit.begin(row(offset, 0), told.append)
        await world.settle()
    assert told == [NONE] * 3
    await world.wait(SESSION_MS)
    assert not commit.begin(row(9, 0), told.append)
    assert world.committed(G) == {PLACE: 2}
