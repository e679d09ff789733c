"""Deleting topics: what brokers hear, what is left in the store, and who has to be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ottla.controller.context import TopicPartition
from ottla.controller.topics import delete_topics
from ottla.protocol.apis.delete_topics import DeleteTopicState
from ottla.protocol.apis.stop_replica import StopReplicaRequest
from ottla.protocol.errors import ErrorCode
from ottla.protocol.primitives import ZERO_UUID
from ottla.store import paths
from tests.unit.controller.cluster import Cluster, cluster


def run(brokers: int, scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with cluster(brokers) as made:
            await scenario(made)

    asyncio.run(whole())


async def _delete(made: Cluster, *names: str) -> list[ErrorCode]:
    topics = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
    results = await delete_topics(made.active, topics)
    await made.settled()
    return [result.code for result in results]


async def _is_gone(made: Cluster, topic: str) -> bool:
    nodes = (paths.topic(topic), paths.config(f"topics/{topic}"), paths.delete_topic(topic))
    return all([await made.data(path) is None for path in nodes])


def test_a_topic_is_stopped_then_deleted_on_every_broker_then_in_the_store() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("doomed", {0: [1, 2], 1: [2, 1]})
        made.brokers.requests.clear()
        assert await _delete(made, "doomed") == [ErrorCode.NONE]
        assert made.brokers.known_leaders(1) == {
            TopicPartition("doomed", 0): -2,
            TopicPartition("doomed", 1): -2,
        }
        told = [
            (state.leader_epoch, state.delete_partition)
            for request in made.brokers.of(StopReplicaRequest, 2)
            for state in request.topic_states[0].partition_states
        ]
        assert told == [(-2, False), (-2, False), (-2, True), (-2, True)]
        kinds = [kind for to, kind in made.brokers.take() if to == 1]
        assert kinds == ["UpdateMetadata", "StopReplica", "StopReplica"]
        assert await _is_gone(made, "doomed")
        assert "doomed" not in made.active.context.assignments

    run(2, scenario)


def test_a_deleted_topic_can_be_created_again() -> None:
    async def scenario(made: Cluster) -> None:
        first = await made.create("orders", {0: [1]})
        await _delete(made, "orders")
        second = await made.create("orders", {0: [1]})
        assert second.code == ErrorCode.NONE
        assert second.topic_id != first.topic_id
        assert (await made.state("orders", 0)).leader_epoch == 0

    run(1, scenario)


def test_a_topic_waits_for_the_broker_that_is_away() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("doomed", {0: [1, 2]})
        await made.kill(2)
        await _delete(made, "doomed")
        assert await made.data(paths.topic("doomed")) is not None
        await made.start(2)
        assert await _is_gone(made, "doomed")
        [last] = made.brokers.of(StopReplicaRequest, 2)[-1:]
        assert last.topic_states[0].partition_states[0].delete_partition

    run(2, scenario)


def test_a_deletion_goes_on_under_the_next_controller() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("doomed", {0: [3, 2]})
        await made.kill(3)
        await _delete(made, "doomed")
        await made.kill(1)
        assert made.running[2].controller.is_active
        assert await made.data(paths.delete_topic("doomed")) is not None
        await made.start(3)
        assert await _is_gone(made, "doomed")

    run(3, scenario)


def test_a_broker_that_cannot_delete_holds_the_topic_until_it_returns() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("doomed", {0: [1, 2]})
        made.brokers.undeletable[2] = None
        await _delete(made, "doomed")
        assert await made.data(paths.topic("doomed")) is not None
        made.brokers.undeletable.clear()
        await made.kill(2)
        await made.start(2)
        assert await _is_gone(made, "doomed")

    run(2, scenario)


def test_what_cannot_be_deleted_is_refused() -> None:
    async def scenario(made: Cluster) -> None:
        created = await made.create("orders", {0: [1]})
        assert await _delete(made, "missing") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        by_id = [
            DeleteTopicState(topic_id=created.topic_id),
            DeleteTopicState(topic_id=b"?" * 16),
        ]
        found, unknown = await delete_topics(made.active, by_id)
        assert (found.name, found.code) == ("orders", ErrorCode.NONE)
        assert (unknown.name, unknown.code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)
        await made.settled()
        assert await _is_gone(made, "orders")

    run(1, scenario)


def test_a_wish_to_delete_what_is_not_there_is_taken_back() -> None:
    async def scenario(made: Cluster) -> None:
        await made.admin.create(paths.delete_topic("missing"))
        await made.settled()
        assert await made.admin.children(paths.DELETE_TOPICS) == []

    run(1, scenario)


def test_without_deletion_enabled_wishes_are_taken_back() -> None:
    async def scenario(made: Cluster) -> None:
        made.delete_topic_enable = False
        await made.start(2)
        await made.kill(1)
        await made.create("kept", {0: [2]})
        await made.admin.create(paths.delete_topic("kept"))
        await made.settled()
        assert await made.admin.children(paths.DELETE_TOPICS) == []
        assert (await made.state("kept", 0)).leader == 2

    run(1, scenario)


def test_a_hundred_topics_are_deleted_together() -> None:
    async def scenario(made: Cluster) -> None:
        names = [f"t{number}" for number in range(100)]
        for name in names:
            await made.create(name, {0: [1]})
        made.brokers.requests.clear()
        await _delete(made, *names)
        assert await made.admin.children(paths.TOPICS) == []
        assert len(made.brokers.of(StopReplicaRequest, 1)) == 2

    run(1, scenario)


def test_a_topic_with_more_below_it_than_expected_is_deleted_whole() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("odd", {0: [1]})
        await made.admin.create("/brokers/topics/odd/left/over", parents=True)
        await _delete(made, "odd")
        assert await _is_gone(made, "odd")

    run(1, scenario)


def test_partitions_added_to_a_topic_under_deletion_are_taken_back() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("doomed", {0: [1, 2]})
        await made.kill(2)
        await _delete(made, "doomed")
        before = await made.data(paths.topic("doomed"))
        assert before is not None
        grown = before.replace(b'{"0":[1,2]}', b'{"0":[1,2],"1":[1,2]}')
        await made.admin.write(paths.topic("doomed"), grown)
        await made.settled()
        assert await made.data(paths.topic("doomed")) == before

    run(2, scenario)
