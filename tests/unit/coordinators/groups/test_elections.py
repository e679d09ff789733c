"""A partition of the offsets log is led here, is not, and is again: what was committed stays."""

from __future__ import annotations

import asyncio
import logging

import pytest

from ottla.coordinators.groups.answers import OffsetToCommit
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import SESSION_MS
from tests.unit.coordinators.groups.world import NONE, OFFSETS, World
from tests.virtual_time import on_virtual_time

G = "readers"
PLACE = ("orders", 0)
E = ErrorCode


@on_virtual_time
async def test_groups_members_and_offsets_come_back_from_the_log() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    await world.commit(G, *PLACE, 5, member_id=member_id, generation=1)
    await world.commit("simple", *PLACE, 6)
    before = world.coordinator.describe(G)
    await world.reload()
    assert world.coordinator.describe(G) == before
    assert (world.committed(G), world.committed("simple")) == ({PLACE: 5}, {PLACE: 6})
    assert world.listed() == {G: "Stable", "simple": "Empty"}
    assert world.heartbeat(G, member_id) is NONE
    assert world.coordinator.loads.loaded_count == 6


@on_virtual_time
async def test_loaded_members_have_a_session_and_lose_it() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    await world.wait(SESSION_MS - 1)
    await world.reload()
    await world.wait(SESSION_MS - 1)
    assert world.heartbeat(G, member_id) is NONE
    await world.wait(SESSION_MS)
    assert world.heartbeat(G, member_id) is E.UNKNOWN_MEMBER_ID


@on_virtual_time
async def test_who_waits_hears_when_the_partition_is_led_elsewhere() -> None:
    world = await World().start()
    number = world.coordinator.partition_for(G)
    joining = world.ask_join(G)
    world.log_of("simple").commits_at_once = False
    committing = world.ask_commit("simple", OffsetToCommit(*PLACE, 1))
    await world.settle()
    world.coordinator.resigned(number, 2)
    world.coordinator.resigned(world.coordinator.partition_for("simple"), 2)
    assert [answer.error for answer in joining] == [E.NOT_COORDINATOR]
    assert committing == [{PLACE: E.NOT_COORDINATOR}]
    world.log_of("simple").commit()  # too late to tell anybody
    assert len(committing) == 1
    assert world.heartbeat(G, "m") is E.NOT_COORDINATOR
    assert world.listed() == {}


@on_virtual_time
async def test_a_leader_whose_assignments_are_not_stored_yet_hears_too() -> None:
    world = await World().start()
    joined = world.ask_join(G)
    await world.wait(3_000)
    world.log_of(G).commits_at_once = False
    member_id = joined[0].member_id
    synced = world.ask_sync(G, member_id, assignments={member_id: b"all"})
    await world.settle()
    assert synced == []
    world.coordinator.resigned(world.coordinator.partition_for(G), None)
    assert [answer.error for answer in synced] == [E.NOT_COORDINATOR]
    world.log_of(G).commit()
    assert len(synced) == 1
    world.coordinator.shut_down()
    assert world.timer.size == 0


@on_virtual_time
async def test_news_that_are_not_new_change_nothing() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    number = world.coordinator.partition_for(G)
    world.coordinator.elected(number, world.epoch)
    world.coordinator.resigned(number, world.epoch)
    world.coordinator.resigned(number, world.epoch - 1)
    assert world.heartbeat(G, member_id) is NONE


@on_virtual_time
async def test_a_stopped_replica_is_unloaded_whatever_its_epoch() -> None:
    world = await World().start()
    number = world.coordinator.partition_for(G)
    world.coordinator.resigned(number, None)
    assert world.heartbeat(G, "m") is E.NOT_COORDINATOR
    world.coordinator.resigned(number, None)
    await world.reload()
    assert world.heartbeat(G, "m") is E.UNKNOWN_MEMBER_ID


@on_virtual_time
async def test_a_load_ends_when_the_partition_is_led_elsewhere_and_the_next_begins() -> None:
    world = World()
    world.coordinator.start(4)
    world.logs[0].holds_reads = True
    for number in range(2):
        world.coordinator.elected(number, 1)
    await world.settle()
    assert (world.logs[0].reads, world.logs[1].reads) == (1, 0)  # one after the other
    world.coordinator.resigned(0, 2)
    world.coordinator.elected(0, 3)
    [too_late] = world.logs[0].held_reads
    world.logs[0].holds_reads = False
    too_late()
    await world.settle()
    assert not world.coordinator.partitions.is_loading
    assert world.coordinator.loads.loaded_count == 2


@on_virtual_time
async def test_a_log_is_loaded_in_pieces_of_the_buffers_size() -> None:
    world = await World().start()
    for number in range(200):
        await world.commit(G, "orders", number, number)
    log = world.log_of(G)
    log.reads = 0
    small = World(offsets=OFFSETS._replace(load_buffer_bytes=1_000), logs=world.logs)
    await small.start()
    for _ in range(20):
        await small.settle()
    assert log.reads > len(log.data) // 1_000
    assert small.committed(G) == {("orders", number): number for number in range(200)}


@on_virtual_time
async def test_a_log_that_cannot_be_read_keeps_its_groups_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    for log in world.logs:
        log.unreadable = E.KAFKA_STORAGE_ERROR
    await world.start()
    assert world.coordinator.fetch(G, None)[0] is E.COORDINATOR_LOAD_IN_PROGRESS
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 3
    for log in world.logs:
        log.unreadable = None
    await world.reload()
    assert world.coordinator.fetch(G, None) == (NONE, {})


@on_virtual_time
async def test_what_follows_an_unreadable_place_is_lost_but_the_coordinator_serves(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = await World().start()
    await world.commit(G, *PLACE, 5)
    world.log_of(G).data += bytes(100)
    await world.reload()
    assert world.committed(G) == {PLACE: 5}
    assert "cannot be read and is lost" in caplog.text


@on_virtual_time
async def test_while_much_is_loaded_the_loop_goes_round() -> None:
    world = await World().start()
    offsets = [OffsetToCommit("orders", number, number) for number in range(3_000)]
    world.ask_commit(G, *offsets)
    await world.settle()
    # Time passes with every look at it, as if each step took a millisecond.
    loop = asyncio.get_running_loop()
    now, turns = loop.time, 0

    def passing() -> float:
        loop.now += 0.001  # type: ignore[attr-defined]
        return now()

    loop.time = passing  # type: ignore[method-assign]
    world.coordinator.elected(world.coordinator.partition_for(G), 9)
    while world.coordinator.partitions.is_loading:
        turns += 1
        await asyncio.sleep(0)
    loop.time = now  # type: ignore[method-assign]
    assert turns > 5
    assert len(world.committed(G)) == 3_000
