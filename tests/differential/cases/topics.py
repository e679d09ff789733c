"""CreateTopics, DeleteTopics, CreatePartitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ottla.protocol.apis.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.primitives import ZERO_UUID
from tests.differential.case import Case, Step, Topic, World, case, step
from tests.differential.requests import To, batch, metadata, metadata_by_id, produce, read_back


def new(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    *,
    configs: Mapping[str, str | None] | None = None,
    assignments: Mapping[int, list[int]] | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": replicas,
        "configs": configs or {},
        "assignments": assignments or {},
    }


def create(
    version: int, *topics: dict[str, Any], validate_only: bool = False, timeout_ms: int = 5_000
) -> Step:
    return step(
        CreateTopicsRequest,
        version,
        lambda world: CreateTopicsRequest(
            topics=[_creatable(world, **topic) for topic in topics],
            timeout_ms=timeout_ms,
            validate_only=validate_only,
        ),
    )


def _creatable(
    world: World,
    *,
    name: str,
    configs: Mapping[str, str | None],
    assignments: Mapping[int, list[int]],
    **counts: int,
) -> CreatableTopic:
    return CreatableTopic(
        name=world.name(name),
        configs=[CreatableTopicConfig(name=k, value=v) for k, v in configs.items()],
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in assignments.items()
        ],
        **counts,
    )


def delete(version: int, *topics: str, timeout_ms: int = 5_000) -> Step:
    """By name."""

    def build(world: World) -> DeleteTopicsRequest:
        names = [world.name(topic) for topic in topics]
        if version < 6:
            return DeleteTopicsRequest(topic_names=names, timeout_ms=timeout_ms)
        states = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
        return DeleteTopicsRequest(topics=states, timeout_ms=timeout_ms)

    return step(DeleteTopicsRequest, version, build)


def delete_by_id(*topics: str, name: str | None = None) -> Step:
    return step(
        DeleteTopicsRequest,
        6,
        lambda world: DeleteTopicsRequest(
            topics=[
                DeleteTopicState(name=name and world.name(name), topic_id=world.topic_id(topic))
                for topic in topics
            ],
            timeout_ms=5_000,
        ),
    )


def create_partitions(
    version: int,
    *topics: tuple[str, int, Sequence[list[int]] | None],
    validate_only: bool = False,
) -> Step:
    return step(
        CreatePartitionsRequest,
        version,
        lambda world: CreatePartitionsRequest(
            topics=[
                CreatePartitionsTopic(
                    name=world.name(name),
                    count=count,
                    assignments=None
                    if assignments is None
                    else [CreatePartitionsAssignment(broker_ids=each) for each in assignments],
                )
                for name, count, assignments in topics
            ],
            timeout_ms=5_000,
            validate_only=validate_only,
        ),
    )


_CREATE = (
    *(
        case(f"create-topics-v{v}", create(v, new("a", 2), new("b")), metadata(12, "a", "b"))
        for v in range(8)
    ),
    *(
        case(f"create-topics-exists-v{v}", create(v, new("t"), new("a")), topics=["t"])
        for v in (0, 1, 5, 7)
    ),
    *(
        case(f"create-topics-validate-v{v}", create(v, new("a"), validate_only=True),
             metadata(5, "a"))
        for v in (1, 5, 7)
    ),
    *(
        case(f"create-topics-invalid-names-v{v}",
             create(v, new("=no name"), new("="), new("=."), new("=" + "x" * 250)))
        for v in (0, 7)
    ),
    case("create-topics-twice-in-one", create(7, new("a"), new("a"), new("b"))),
    case("create-topics-twice-in-one-v0", create(0, new("a"), new("a"), new("b"))),
    case("create-topics-default-counts", create(4, new("a", -1, -1)), create(7, new("b", -1, -1))),
    case("create-topics-default-counts-too-old", create(3, new("a", -1, -1))),
    case("create-topics-no-partitions", create(7, new("a", 0), new("b", -2))),
    case("create-topics-no-replicas", create(7, new("a", 1, 0), new("b", 1, -2))),
    case("create-topics-too-many-replicas", create(7, new("a", 1, 2)), create(1, new("a", 1, 2))),
    case("create-topics-assigned",
         create(7, new("a", -1, -1, assignments={0: [0], 1: [0]})), metadata(12, "a")),
    case("create-topics-assigned-to-unknown", create(7, new("a", -1, -1, assignments={0: [5]}))),
    case("create-topics-assigned-twice", create(7, new("a", -1, -1, assignments={0: [0, 0]}))),
    case("create-topics-assigned-to-none", create(7, new("a", -1, -1, assignments={0: []}))),
    case("create-topics-assigned-negative", create(7, new("a", -1, -1, assignments={0: [-3]}))),
    case("create-topics-assigned-with-gaps",
         create(7, new("a", -1, -1, assignments={0: [0], 2: [0]}))),
    case("create-topics-assigned-and-counted", create(7, new("a", 1, 1, assignments={0: [0]}))),
    case("create-topics-configs",
         create(7, new("a", configs={"cleanup.policy": "compact", "segment.bytes": "2000000"}))),
    case("create-topics-unknown-config", create(7, new("a", configs={"no.such": "1"}))),
    case("create-topics-bad-config", create(7, new("a", configs={"segment.bytes": "many"})),
         create(7, new("a", configs={"segment.bytes": "1"})),
         create(7, new("a", configs={"cleanup.policy": "burn"}))),
    case("create-topics-null-config", create(7, new("a", configs={"segment.bytes": None})),
         create(0, new("a", configs={"segment.bytes": None}))),
    case("create-topics-contradicting-config",
         create(7, new("a", configs={"min.insync.replicas": "0"})),
         create(7, new("b", configs={"max.message.bytes": "-1"}))),
    case("create-topics-nothing", create(7)),
    case("create-topics-no-time", create(7, new("a"), timeout_ms=0)),
    case("create-topics-colliding", create(7, new("a.b")), create(7, new("a_b"))),
    case("create-topics-one-good-one-bad", create(5, new("a"), new("b", 0), new("=.."))),
)  # fmt: skip
_DELETE = (
    *(
        case(f"delete-topics-v{v}", delete(v, "t", "missing"), metadata(5, "t"), topics=["t"])
        for v in range(7)
    ),
    case("delete-topics-by-id", delete_by_id("t", "missing"), metadata(12, "t"), topics=["t"]),
    case("delete-topics-by-id-and-name", delete_by_id("t", name="t"), metadata(5, "t"),
         topics=["t"]),
    case("delete-topics-by-neither", delete(6, "="), delete_by_id("t"), topics=["t"]),
    case("delete-topics-twice-in-one", delete(6, "t", "t"), metadata(5, "t"), topics=["t"]),
    case("delete-topics-twice-in-one-v1", delete(1, "t", "t"), metadata(5, "t"), topics=["t"]),
    case("delete-topics-nothing", delete(6), delete(1)),
    case("delete-topics-no-time", delete(5, "t", timeout_ms=0), topics=["t"]),
    case("delete-topics-invalid-name", delete(6, "=no name"), delete(1, "=no name")),
    case(
        "delete-topics-and-create-anew",
        produce(7, To(batch(b"old"))),
        delete(6, "t"),
        create(7, new("t")),
        read_back(),
        metadata_by_id(12, "t"),
        topics=["t"],
    ),
)  # fmt: skip
_PARTITIONS = (
    *(
        case(
            f"create-partitions-v{v}",
            create_partitions(v, ("t", 3, None), ("missing", 2, None)),
            metadata(12, "t"),
            topics=["t"],
        )
        for v in range(4)
    ),
    case("create-partitions-same-count", create_partitions(3, ("t", 2, None)),
         topics=[Topic("t", 2)]),
    case("create-partitions-fewer", create_partitions(3, ("t", 1, None)), topics=[Topic("t", 2)]),
    case("create-partitions-zero", create_partitions(3, ("t", 0, None), ("u", -1, None)),
         topics=["t", "u"]),
    case("create-partitions-twice-in-one", create_partitions(3, ("t", 2, None), ("t", 3, None)),
         metadata(5, "t"), topics=["t"]),
    case("create-partitions-validate", create_partitions(3, ("t", 5, None), validate_only=True),
         metadata(5, "t"), topics=["t"]),
    case("create-partitions-assigned", create_partitions(3, ("t", 3, [[0], [0]])),
         metadata(5, "t"), topics=["t"]),
    case("create-partitions-assigned-too-few", create_partitions(3, ("t", 3, [[0]])),
         topics=["t"]),
    case("create-partitions-assigned-to-unknown", create_partitions(3, ("t", 2, [[7]])),
         topics=["t"]),
    case("create-partitions-assigned-twice", create_partitions(3, ("t", 2, [[0, 0]])),
         topics=["t"]),
    case("create-partitions-assigned-to-none", create_partitions(3, ("t", 2, [[]])),
         create_partitions(3, ("t", 2, [])), topics=["t"]),
    case("create-partitions-used-at-once", create_partitions(3, ("t", 2, None)),
         produce(7, To(batch(b"a"), partition=1)), read_back(partition=1), topics=["t"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_CREATE, *_DELETE, *_PARTITIONS)
