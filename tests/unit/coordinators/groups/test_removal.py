"""Offsets and groups that go: asked for, expired, or with their topic."""

from __future__ import annotations

from ottla.coordinators.groups.answers import DeletedOffsets, OffsetToCommit
from ottla.coordinators.groups.records import group_tombstone, offset_key, offset_key_start
from ottla.coordinators.groups.requests import Leaving
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import SESSION_MS
from tests.unit.coordinators.groups.world import NONE, RETENTION_MS, World, keys
from tests.virtual_time import on_virtual_time

G = "readers"
PLACE, OTHER = ("orders", 0), ("payments", 0)
E = ErrorCode
GROUP_GONE = (group_tombstone(G).key, True)


def gone(topic: str, partition: int) -> tuple[bytes, bool]:
    return offset_key(offset_key_start(G), topic, partition), True


async def world_with_offsets() -> World:
    world = await World().start()
    await world.commit(G, *PLACE, 1)
    await world.commit(G, *OTHER, 2)
    return world


async def world_with_an_empty_group() -> World:
    """Its member committed and left."""
    world = await World().start()
    member_id = await world.formed(G)
    await world.commit(G, *PLACE, 1, member_id=member_id, generation=1)
    world.ask_leave(G, Leaving(member_id))
    await world.settle()
    assert world.listed() == {G: "Empty"}
    return world


@on_virtual_time
async def test_a_deleted_group_leaves_tombstones_for_its_offsets_and_itself() -> None:
    world = await world_with_an_empty_group()
    assert await world.delete_groups(G) == {G: NONE}
    assert keys(world.log_of(G).appends[-1]) == [gone(*PLACE), GROUP_GONE]
    assert world.listed() == {}
    await world.reload()
    assert world.listed() == {}


@on_virtual_time
async def test_a_group_that_only_stored_offsets_needs_no_tombstone_of_its_own() -> None:
    world = await world_with_offsets()
    assert await world.delete_groups(G) == {G: NONE}
    assert keys(world.log_of(G).appends[-1]) == [gone(*PLACE), gone(*OTHER)]
    assert world.committed(G) == {}


@on_virtual_time
async def test_groups_with_members_and_groups_that_nobody_knows_cannot_be_deleted() -> None:
    world = await World().start()
    await world.formed(G)
    await world.commit("simple", *PLACE, 1)
    assert await world.delete_groups(G, "simple", "never", "simple") == {
        G: E.NON_EMPTY_GROUP,
        "simple": NONE,
        "never": E.GROUP_ID_NOT_FOUND,
    }
    assert await world.delete_groups() == {}


@on_virtual_time
async def test_until_it_is_safe_nobody_hears_that_a_group_is_deleted_but_it_is_gone() -> None:
    world = await world_with_offsets()
    log = world.log_of(G)
    log.commits_at_once = False
    answers = world.ask_delete(G)
    await world.settle()
    assert (answers, world.committed(G)) == ([], {})
    # A new group of the same name begins, and its records come after the tombstones.
    world.ask_commit(G, OffsetToCommit(*PLACE, 7))
    await world.settle()
    log.commit()
    assert answers == [{G: NONE}]
    assert world.committed(G) == {PLACE: 7}
    log.commits_at_once = True
    await world.reload()
    assert world.committed(G) == {PLACE: 7}


@on_virtual_time
async def test_a_group_whose_deletion_is_refused_is_there_again() -> None:
    world = await world_with_an_empty_group()
    world.log_of(G).refuses_with = E.NOT_ENOUGH_REPLICAS
    assert await world.delete_groups(G) == {G: E.COORDINATOR_NOT_AVAILABLE}
    assert world.listed() == {G: "Empty"}
    assert world.committed(G) == {PLACE: 1}


@on_virtual_time
async def test_a_commit_on_its_way_goes_with_its_group() -> None:
    world = await World().start()
    world.log_of(G).commits_at_once = False
    committed = world.ask_commit(G, OffsetToCommit(*PLACE, 7))
    deleted = world.ask_delete(G)
    await world.settle()
    assert len(world.log_of(G).appends) == 1
    world.log_of(G).commit()
    assert (committed, deleted) == ([{PLACE: NONE}], [{G: NONE}])
    await world.reload()
    assert world.listed() == {}


@on_virtual_time
async def test_many_offsets_go_in_several_batches() -> None:
    world = await World().start()
    world.log_of(G).max_batch_bytes = 30_000
    for start in range(0, 2500, 100):
        offsets = [OffsetToCommit("orders", start + number, 1) for number in range(100)]
        world.ask_commit(G, *offsets)
        await world.settle()
    assert await world.delete_groups(G) == {G: NONE}
    sizes = [len(append) for append in world.log_of(G).appends]
    assert sum(sizes) == 5000
    assert max(sizes) == 1000


@on_virtual_time
async def test_offsets_are_deleted_one_by_one_and_an_empty_group_with_the_last() -> None:
    world = await world_with_offsets()
    answer = await world.delete_offsets(G, PLACE, ("never", 0))
    assert answer == DeletedOffsets(NONE, {PLACE: NONE, ("never", 0): NONE})
    assert keys(world.log_of(G).appends[-1]) == [gone(*PLACE)]
    assert world.committed(G) == {OTHER: 2}
    await world.delete_offsets(G, OTHER)
    assert world.listed() == {}


@on_virtual_time
async def test_offsets_of_a_topic_that_the_group_reads_stay() -> None:
    world = await World().start()
    member_id = await world.formed(G)  # it reads orders
    for place in (PLACE, OTHER):
        await world.commit(G, *place, 1, member_id=member_id, generation=1)
    answer = await world.delete_offsets(G, PLACE, OTHER)
    assert answer == DeletedOffsets(NONE, {PLACE: E.GROUP_SUBSCRIBED_TO_TOPIC, OTHER: NONE})
    assert world.committed(G) == {PLACE: 1}
    assert world.listed() == {G: "Stable"}


@on_virtual_time
async def test_if_what_its_consumers_read_cannot_be_known_everything_might_be() -> None:
    world = await World().start()
    await world.formed(G, protocols=(("range", b"garbled"),))
    answer = await world.delete_offsets(G, PLACE)
    assert answer.partitions == {PLACE: E.GROUP_SUBSCRIBED_TO_TOPIC}


@on_virtual_time
async def test_offsets_of_other_kinds_of_groups_go_only_without_members() -> None:
    world = await World().start()
    await world.formed(G, protocol_type="connect")
    assert await world.delete_offsets(G, PLACE) == DeletedOffsets(E.NON_EMPTY_GROUP, {})
    assert await world.delete_offsets("never", PLACE) == DeletedOffsets(E.GROUP_ID_NOT_FOUND, {})


@on_virtual_time
async def test_an_offset_whose_deletion_is_refused_stays() -> None:
    world = await world_with_offsets()
    world.log_of(G).refuses_with = E.NOT_LEADER_OR_FOLLOWER
    answer = await world.delete_offsets(G, PLACE)
    assert answer.partitions == {PLACE: E.NOT_COORDINATOR}
    assert world.committed(G) == {PLACE: 1, OTHER: 2}


@on_virtual_time
async def test_a_topic_that_is_deleted_takes_its_offsets_along() -> None:
    world = await world_with_offsets()
    await world.commit("simple", *PLACE, 1)
    world.coordinator.topics_deleted(["orders", "never"])
    await world.settle()
    assert world.committed(G) == {OTHER: 2}
    assert world.listed() == {G: "Empty"}  # of the other group nothing was left


@on_virtual_time
async def test_offsets_expire_by_themselves_with_their_group() -> None:
    world = await world_with_an_empty_group()
    await world.wait(RETENTION_MS - 1)
    assert world.committed(G) == {PLACE: 1}
    await world.wait(600_000)
    assert world.listed() == {}
    assert keys(world.log_of(G).appends[-1]) == [gone(*PLACE), GROUP_GONE]
    assert world.coordinator.expired_count == 1


@on_virtual_time
async def test_what_a_stable_group_reads_no_more_expires_and_the_rest_stays() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    for place in (PLACE, OTHER):
        await world.commit(G, *place, 1, member_id=member_id, generation=1)
    for _ in range(RETENTION_MS // SESSION_MS + 70):
        await world.wait(SESSION_MS - 1)
        world.heartbeat(G, member_id)
    assert world.committed(G) == {PLACE: 1}


@on_virtual_time
async def test_an_explicit_retention_ends_when_it_says() -> None:
    world = await World().start()
    world.ask_commit(G, OffsetToCommit(*PLACE, 1), retention_ms=600_000)
    await world.settle()
    await world.wait(599_999)
    assert world.committed(G) == {PLACE: 1}
    await world.wait(600_001)
    assert world.listed() == {}


@on_virtual_time
async def test_a_group_without_offsets_that_was_left_is_forgotten() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    world.ask_leave(G, Leaving(member_id))
    await world.settle()
    await world.wait(600_000)
    assert world.listed() == {}
    assert keys(world.log_of(G).appends[-1]) == [GROUP_GONE]
