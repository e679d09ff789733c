"""Partition states in the store: many in one go, and one by one where that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.controller.context import ControllerContext, Leadership, TopicPartition
from ottla.controller.fence import ControllerMoved, Fence
from ottla.controller.partition_states import PartitionStates
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store import paths
from ottla.store.port import Entry

FIRST = Leadership(leader=1, leader_epoch=0, isr=(1,), controller_epoch=1)
A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def run(scenario: Callable[[MemoryStore, PartitionStates], Awaitable[None]]) -> None:
    async def whole() -> None:
        store = MemoryStore(MemoryTree())
        for topic in "ab":
            await store.create(paths.topic(topic), parents=True)
        await store.create(paths.CONTROLLER_EPOCH, b"1")
        context = ControllerContext(1)
        context.epoch, context.epoch_version = 1, 0
        await scenario(store, PartitionStates(Fence(store, context)))

    asyncio.run(whole())


async def _state(store: MemoryStore, at: TopicPartition) -> Entry:
    entry = await store.read(paths.partition_state(*at))
    assert entry is not None
    return entry


def test_new_states_are_created_with_the_nodes_above_them() -> None:
    async def scenario(store: MemoryStore, states: PartitionStates) -> None:
        new = dict.fromkeys((A0, A1, B0), FIRST)
        created = await states.create(new, new_topics=["a", "b"])
        assert list(created) == [A0, A1, B0]
        assert {made.version for made in created.values()} == {0}
        assert await states.read([A0, TopicPartition("c", 0)]) == {A0: created[A0]}
        # Three nodes a partition, but one zxid for all.
        assert (await _state(store, A0)).czxid == (await _state(store, B0)).czxid

    run(scenario)


def test_more_than_fit_into_one_change_are_created_in_several() -> None:
    async def scenario(store: MemoryStore, states: PartitionStates) -> None:
        new = {TopicPartition("a", index): FIRST for index in range(1000)}
        assert len(await states.create(new, new_topics=["a"])) == 1000
        assert len(await states.read(new)) == 1000

    run(scenario)


def test_a_state_that_exists_is_not_overwritten_and_holds_up_nobody() -> None:
    async def scenario(store: MemoryStore, states: PartitionStates) -> None:
        await store.create(paths.partition_state("a", 0), b"not ours", parents=True)
        created = await states.create(dict.fromkeys((A0, A1, B0), FIRST), new_topics=["b"])
        assert list(created) == [A1, B0]
        assert (await _state(store, A0)).data == b"not ours"

    run(scenario)


def test_nodes_above_that_are_missing_are_made() -> None:
    async def scenario(store: MemoryStore, states: PartitionStates) -> None:
        assert list(await states.create({A1: FIRST}, new_topics=[])) == [A1]

    run(scenario)


def test_only_states_with_the_expected_version_are_written() -> None:
    async def scenario(store: MemoryStore, states: PartitionStates) -> None:
        created = await states.create(dict.fromkeys((A0, A1), FIRST), new_topics=["a"])
        await store.write(paths.partition_state("a", 0), b"the leader was here")
        written = await states.update({**created, B0: FIRST})
        assert list(written) == [A1]
        assert written[A1].version == 1
        assert (await _state(store, A0)).data == b"the leader was here"

    run(scenario)


def test_nothing_is_written_when_the_controller_has_moved() -> None:
    async def scenario(store: MemoryStore, states: PartitionStates) -> None:
        created = await states.create({A0: FIRST}, new_topics=["a"])
        await store.write(paths.CONTROLLER_EPOCH, b"2")
        with pytest.raises(ControllerMoved):
            await states.update(created)
        with pytest.raises(ControllerMoved):
            await states.create({B0: FIRST}, new_topics=["b"])
        assert (await _state(store, A0)).version == 0

    run(scenario)
