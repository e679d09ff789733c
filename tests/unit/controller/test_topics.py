"""Creating topics and partitions: what is written, what is refused and with which words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import pytest

from ottla.controller.more_partitions import AddedPartitions, create_partitions
from ottla.controller.topics import CreatedTopic, TopicPlan, create_topics
from ottla.protocol.apis.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsTopic,
)
from ottla.protocol.apis.create_topics import CreatableTopic, CreatableTopicConfig
from ottla.protocol.apis.leader_and_isr import LeaderAndIsrRequest
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store import paths
from tests.unit.controller.cluster import Cluster, cluster, manual_topic


def run(brokers: int, scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with cluster(brokers) as made:
            await scenario(made)

    asyncio.run(whole())


def topic(
    name: str,
    *,
    partitions: int = 1,
    factor: int = 1,
    configs: Mapping[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )


async def _create(made: Cluster, *topics: CreatableTopic) -> list[CreatedTopic]:
    created = await create_topics(made.active, topics, made.rules(), validate_only=False)
    await made.settled()
    return created


def test_a_thousand_topics_become_one_request_to_their_broker() -> None:
    async def scenario(made: Cluster) -> None:
        created = await _create(made, *(topic(f"t{number}") for number in range(1000)))
        assert all(result.code == ErrorCode.NONE for result in created)
        told = made.brokers.of(LeaderAndIsrRequest, 1)
        assert [len(request.topic_states) for request in told] == [1000]

    run(1, scenario)


def test_a_topic_is_created_with_its_config_and_size() -> None:
    async def scenario(made: Cluster) -> None:
        [created] = await _create(
            made, topic("events", partitions=3, factor=2, configs={"cleanup.policy": "compact"})
        )
        assert (created.partitions, created.replication_factor) == (3, 2)
        assert await made.data(paths.config("topics/events")) == (
            b'{"version":1,"config":{"cleanup.policy":"compact"}}'
        )
        assert made.active.context.topic_names[created.topic_id] == "events"

    run(2, scenario)


def test_without_sizes_the_defaults_count() -> None:
    async def scenario(made: Cluster) -> None:
        rules = replace(
            made.rules(), default_partitions=lambda: 4, default_replication_factor=lambda: 2
        )
        wanted = [topic("events", partitions=-1, factor=-1)]
        [created] = await create_topics(made.active, wanted, rules, validate_only=True)
        assert (created.partitions, created.replication_factor) == (4, 2)
        assert await made.data(paths.topic("events")) is None

    run(2, scenario)


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        (topic("plain"), ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'plain' already exists."),
        (
            topic("bad name!", factor=9),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor: 9 larger than available brokers: 2.",
        ),
        (
            topic("bad name!"),
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name is invalid: 'bad name!' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'",
        ),
        (
            topic("a.b"),
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic 'a.b' collides with existing topics: a_b",
        ),
        (
            topic("t", partitions=0),
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions must be larger than 0.",
        ),
        (
            topic("t", partitions=100_001),
            ErrorCode.INVALID_PARTITIONS,
            "100001 partitions of topic 't' are too many: one request may name 100000 in all. "
            "Ask for fewer, or for other topics in requests of their own.",
        ),
        (
            topic("t", factor=0),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0.",
        ),
        (
            topic("t", configs={"cleanup.policy": None}),
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: cleanup.policy",
        ),
        (
            manual_topic("t", {0: [1], 2: [1]}),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, ErrorCode) else "",
)
def test_a_mistake_is_named(wanted: CreatableTopic, code: ErrorCode, message: str) -> None:
    async def scenario(made: Cluster) -> None:
        await _create(made, topic("plain"), topic("a_b"))
        [refused] = await _create(made, wanted)
        assert (refused.code, refused.message) == (code, message)
        assert refused.partitions == -1

    run(2, scenario)


def test_one_bad_topic_does_not_hold_up_the_others() -> None:
    async def scenario(made: Cluster) -> None:
        results = await _create(
            made, topic("good"), topic("bad/name"), topic("twice"), topic("twice")
        )
        assert len(results) == 4
        codes = {result.name: result.code for result in results}
        assert codes == {
            "good": ErrorCode.NONE,
            "bad/name": ErrorCode.INVALID_TOPIC_EXCEPTION,
            "twice": ErrorCode.INVALID_REQUEST,
        }
        assert await made.admin.children(paths.TOPICS) == ["good"]

    run(1, scenario)


def test_many_large_topics_of_one_request_are_too_many_together() -> None:
    async def scenario(made: Cluster) -> None:
        wanted = [topic("first", partitions=60_000), topic("second", partitions=60_000), topic("t")]
        results = await create_topics(made.active, wanted, made.rules(), validate_only=True)
        codes = [result.code for result in results]
        assert codes == [ErrorCode.NONE, ErrorCode.INVALID_PARTITIONS, ErrorCode.NONE]

    run(1, scenario)


def test_two_topics_of_one_request_may_not_collide() -> None:
    async def scenario(made: Cluster) -> None:
        first, second = await _create(made, topic("a.b"), topic("a_b"))
        assert first.code == ErrorCode.NONE
        assert second.code == ErrorCode.INVALID_TOPIC_EXCEPTION

    run(1, scenario)


def test_sizes_and_a_manual_assignment_exclude_each_other() -> None:
    async def scenario(made: Cluster) -> None:
        both = manual_topic("t", {0: [1]})
        both.num_partitions = 1
        [refused] = await _create(made, both)
        assert refused.code == ErrorCode.INVALID_REQUEST

    run(1, scenario)


def test_config_and_policy_are_asked() -> None:
    async def scenario(made: Cluster) -> None:
        def refuse_config(name: str, configs: Mapping[str, str]) -> None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, "Unknown topic config name: colour")

        def refuse_plan(plan: TopicPlan) -> None:
            raise KafkaError(ErrorCode.POLICY_VIOLATION, f"no {len(plan.assignment)} partitions")

        for rules, message in (
            (
                replace(made.rules(), check_config=refuse_config),
                "Unknown topic config name: colour",
            ),
            (replace(made.rules(), check_policy=refuse_plan), "no 2 partitions"),
        ):
            wanted = [topic("t", partitions=2)]
            [refused] = await create_topics(made.active, wanted, rules, validate_only=False)
            assert refused.message == message
        assert await made.data(paths.config("topics/t")) is None

    run(1, scenario)


def test_a_topic_of_the_same_moment_and_a_config_left_over_are_told_apart() -> None:
    async def scenario(made: Cluster) -> None:
        await made.admin.create(paths.config("topics/left"), b'{"version":1,"config":{}}')
        await made.admin.create(paths.topic("raced"), b'{"version":1,"partitions":{"0":[1]}}')
        wanted = [topic("left"), topic("raced")]
        left, raced = await create_topics(made.active, wanted, made.rules(), validate_only=False)
        assert left.code == ErrorCode.NONE
        assert raced.code == ErrorCode.TOPIC_ALREADY_EXISTS
        assert await made.data(paths.topic("left")) is not None

    run(1, scenario)


async def _grow(
    made: Cluster, name: str, count: int, assignments: list[list[int]] | None = None
) -> AddedPartitions:
    given = None
    if assignments is not None:
        given = [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
    wanted = [CreatePartitionsTopic(name=name, count=count, assignments=given)]
    [result] = await create_partitions(made.active, wanted, validate_only=False)
    await made.settled()
    return result


def test_a_topic_grows() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("txn", {0: [2], 1: [1]})
        made.brokers.requests.clear()
        assert (await _grow(made, "txn", 3)).added == (2,)
        data = await made.data(paths.topic("txn"))
        assert data is not None
        assert data.startswith(b'{"partitions":{"0":[2],"1":[1],"2":[2]}')
        assert (await made.state("txn", 2)).leader == 2
        [request] = made.brokers.of(LeaderAndIsrRequest)
        [state] = request.topic_states[0].partition_states
        assert (state.partition_index, state.is_new) == (2, True)

    run(2, scenario)


@pytest.mark.parametrize(
    ("count", "assignments", "code", "message"),
    [
        (2, None, ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partitions."),
        (
            1,
            None,
            ErrorCode.INVALID_PARTITIONS,
            "Topic currently has 2 partitions, which is higher than the requested 1.",
        ),
        (
            100_001,
            None,
            ErrorCode.INVALID_PARTITIONS,
            "100001 partitions of topic 'txn' are too many: one request may name 100000 in all. "
            "Ask for fewer, or for other topics in requests of their own.",
        ),
        (
            3,
            [[9]],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Unknown broker(s) in replica assignment: 9.",
        ),
        (
            4,
            [[1]],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Increasing the number of partitions by 2 but 1 assignments provided.",
        ),
        (
            3,
            [[1, 2]],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Inconsistent replication factor between partitions, partition 0 has 1 while "
            "partitions [2] have replication factors [2], respectively.",
        ),
    ],
)
def test_a_topic_cannot_grow_in_any_way(
    count: int, assignments: list[list[int]] | None, code: ErrorCode, message: str
) -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("txn", {0: [2], 1: [1]})
        refused = await _grow(made, "txn", count, assignments)
        assert (refused.code, refused.message) == (code, message)

    run(2, scenario)


def test_a_topic_that_is_not_there_cannot_grow() -> None:
    async def scenario(made: Cluster) -> None:
        refused = await _grow(made, "missing", 2)
        assert refused.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert refused.message == "The topic 'missing' does not exist."

    run(1, scenario)
