"""Reassignments carried out on a store in memory: who is told what, and what is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ottla.controller.context import TopicPartition
from ottla.protocol.apis.stop_replica import StopReplicaRequest
from ottla.protocol.errors import ErrorCode
from ottla.store import paths
from ottla.store.port import Create, Write
from ottla.store.znodes import IsrChange, PartitionState, ReassignPartitions, TopicAssignment
from tests.unit.controller.cluster import Cluster, cluster

ORDERS = TopicPartition("orders", 0)
Targets = dict[TopicPartition, tuple[int, ...] | None]


def run(brokers: int, scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with cluster(brokers) as made:
            await scenario(made)

    asyncio.run(whole())


async def alter(made: Cluster, to: tuple[int, ...] | None) -> ErrorCode:
    made.brokers.requests.clear()
    results = await made.active.alter_reassignments({ORDERS: to})
    await made.settled()
    return results[ORDERS].code


async def stored(made: Cluster) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The replicas of the partition, those added and those that will go."""
    path = paths.topic("orders")
    known = TopicAssignment.decode(await made.data(path) or b"", path)
    return known.replicas[0], known.adding.get(0, ()), known.removing.get(0, ())


async def in_sync(made: Cluster, *isr: int) -> None:
    """As the leader does it: it writes the set, then lets the controller know."""
    path = paths.partition_state("orders", 0)
    entry = await made.admin.read(path)
    assert entry is not None
    state = PartitionState.decode(entry.data, path)
    changed = PartitionState(state.leader, state.leader_epoch, isr, state.controller_epoch)
    change = Create(paths.ISR_CHANGE, IsrChange((ORDERS,)).encode(), sequential=True)
    await made.admin.multi([Write(path, changed.encode(), entry.version), change])
    await made.settled()


def stopped(made: Cluster) -> dict[int, list[bool]]:
    """By broker, whether it was to delete the files each time that it had to stop."""
    heard: dict[int, list[bool]] = {}
    for broker, request in made.brokers.requests:
        if isinstance(request, StopReplicaRequest):
            for topic in request.topic_states:
                states = topic.partition_states
                heard.setdefault(broker, []).extend(state.delete_partition for state in states)
    return heard


def test_to_where_it_is_only_a_new_epoch_tells_of_it() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        assert await alter(made, (1,)) is ErrorCode.NONE
        assert await stored(made) == ((1,), (), ())
        assert made.brokers.told_leaders(1) == {ORDERS: (1, 1, False)}
        assert made.brokers.known_leaders(1) == {ORDERS: 1}
        assert stopped(made) == {}

    run(1, scenario)


def test_a_partition_moves_when_its_new_replicas_are_in_sync() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        assert await alter(made, (2, 3)) is ErrorCode.NONE
        assert await stored(made) == ((2, 3, 1), (2, 3), (1,))
        assert made.brokers.told_leaders(1) == {ORDERS: (1, 1, False)}
        assert made.brokers.told_leaders(3) == {ORDERS: (1, 1, True)}
        await in_sync(made, 1, 2)
        assert await stored(made) == ((2, 3, 1), (2, 3), (1,))
        assert stopped(made) == {}
        await in_sync(made, 1, 2, 3)
        assert await stored(made) == ((2, 3), (), ())
        state = await made.state("orders", 0)
        assert (state.leader, state.isr) == (2, (2, 3))
        assert stopped(made) == {1: [False, True]}
        assert made.brokers.known_leaders(1) == {ORDERS: 2}
        assert made.active.context.reassigned == {}

    run(3, scenario)


def test_a_reassignment_that_is_taken_back_leaves_no_new_replica() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        await alter(made, (2,))
        assert await alter(made, None) is ErrorCode.NONE
        assert await stored(made) == ((1,), (), ())
        assert stopped(made) == {2: [False, True]}
        assert await alter(made, None) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        # And broker 2 may get it again, as one that never had it.
        await alter(made, (2,))
        assert made.brokers.told_leaders(2)[ORDERS][2]

    run(2, scenario)


def test_what_was_added_for_another_target_is_removed() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        await alter(made, (2,))
        await alter(made, (3,))
        assert await stored(made) == ((3, 1), (3,), (1,))
        assert stopped(made) == {2: [False, True]}

    run(3, scenario)


def test_a_replica_on_a_broker_that_is_gone_is_given_up() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1, 2]})
        await made.kill(2)
        assert await alter(made, (1,)) is ErrorCode.NONE
        assert await stored(made) == ((1,), (), ())
        state = await made.state("orders", 0)
        assert (state.leader, state.isr) == (1, (1,))

    run(2, scenario)


def test_the_next_controller_goes_on_with_it() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2]})
        await alter(made, (3,))
        await made.kill(1)
        assert made.active.context.reassigned == {ORDERS: None}
        await in_sync(made, 2, 3)
        assert await stored(made) == ((3,), (), ())

    run(3, scenario)


def test_new_partitions_of_the_same_moment_are_kept() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        path = paths.topic("orders")
        entry = await made.admin.read(path)
        assert entry is not None
        known = TopicAssignment.decode(entry.data, path)
        grown = TopicAssignment({0: (1,), 1: (1,)}, known.topic_id)
        altering = asyncio.ensure_future(made.active.alter_reassignments({ORDERS: (1,)}))
        await made.admin.write(path, grown.encode())
        await altering
        await made.settled()
        assert made.active.context.knows(TopicPartition("orders", 1))
        entry = await made.admin.read(path)
        assert entry is not None
        assert list(TopicAssignment.decode(entry.data, path).replicas) == [0, 1]

    run(1, scenario)


def test_a_topic_that_moves_is_deleted_when_it_has_arrived() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        await alter(made, (2,))
        await made.admin.create(paths.delete_topic("orders"))
        await made.settled()
        assert await made.data(paths.topic("orders")) is not None
        await in_sync(made, 1, 2)
        assert await made.data(paths.topic("orders")) is None

    run(2, scenario)


def test_a_broker_that_cannot_delete_its_old_replica_holds_no_later_deletion_up() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1, 2]})
        made.brokers.undeletable[2] = None
        await alter(made, (1,))
        await made.admin.create(paths.delete_topic("orders"))
        await made.settled()
        assert await made.data(paths.topic("orders")) is None

    run(2, scenario)


def test_the_old_tools_node_is_worked_off_and_goes_when_all_is_done() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        await made.create("still", {0: [1]})
        asked = ReassignPartitions(
            {("orders", 0): (2,), ("still", 0): (1,), ("missing", 0): (1,), ("still", 5): (1,)}
        )
        await made.admin.create(paths.REASSIGN_PARTITIONS, asked.encode())
        await made.settled()
        left = ReassignPartitions.decode(await made.data(paths.REASSIGN_PARTITIONS) or b"")
        assert left == ReassignPartitions({("orders", 0): (2,)})
        await in_sync(made, 1, 2)
        assert await made.data(paths.REASSIGN_PARTITIONS) is None
        assert await stored(made) == ((2,), (), ())

    run(2, scenario)
