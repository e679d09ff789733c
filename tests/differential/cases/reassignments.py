"""AlterPartitionReassignments, ListPartitionReassignments, UpdateFeatures, AllocateProducerIds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ottla.protocol.apis.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.protocol.apis.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.apis.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.apis.metadata import MetadataResponse
from ottla.protocol.apis.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.schema import Message
from tests.differential.case import Case, Step, Topic, case, step
from tests.differential.requests import To, batch, metadata, produce, read_back

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
Target = tuple[str, int, list[int] | None]
_TWO = Topic("t", partitions=2)


def alter(*targets: Target) -> Step:
    return step(
        AlterPartitionReassignmentsRequest,
        0,
        lambda world: AlterPartitionReassignmentsRequest(
            timeout_ms=10_000,
            topics=[
                ReassignableTopic(
                    name=world.name(topic),
                    partitions=[ReassignablePartition(partition_index=index, replicas=to)],
                )
                for topic, index, to in targets
            ],
        ),
    )


def listed(topics: Iterable[tuple[str, list[int]]] | None) -> Step:
    return step(
        ListPartitionReassignmentsRequest,
        0,
        lambda world: ListPartitionReassignmentsRequest(
            timeout_ms=10_000,
            topics=None
            if topics is None
            else [
                ListPartitionReassignmentsTopics(name=world.name(topic), partition_indexes=indexes)
                for topic, indexes in topics
            ],
        ),
    )


def leader_epoch(number: int) -> Step:
    """Asked until the broker has heard of that epoch of both partitions."""

    def is_known(answer: Message) -> bool:
        assert isinstance(answer, MetadataResponse)
        return [each.leader_epoch for each in answer.topics[0].partitions] == [number] * 2

    return replace(metadata(12, "t"), until=is_known)


def _refused(name: str, *targets: Target) -> Case:
    return case(f"reassign-{name}", alter(*targets), listed(None), topics=[_TWO])


_REASSIGNMENTS = (
    case("reassignments-none", listed(None), listed([]), listed([("t", [0, 7]), ("missing", [0])]),
         topics=[_TWO]),
    case(
        "reassign-to-the-same",
        produce(3, To(batch(b"a"))),
        alter(("t", 0, [0]), ("t", 1, [0])),
        listed(None),
        leader_epoch(1),
        produce(3, To(batch(b"b"))),
        read_back(),
        topics=[_TWO],
    ),
    case("reassign-nothing", alter()),
    _refused("cancel-what-does-not-move", ("t", 0, None), ("t", 9, None), ("missing", 0, None)),
    _refused("to-nobody", ("t", 0, []), ("t", 1, [0])),
    _refused("to-one-twice", ("t", 0, [0, 0])),
    _refused("to-a-broker-that-is-not-there", ("t", 0, [5]), ("t", 1, [0, 5])),
    _refused("to-a-negative-broker", ("t", 0, [-1]), ("t", 1, [0, -3])),
    _refused("unknown-partitions", ("t", 2, [0]), ("missing", 0, [0]), ("missing", 1, [5])),
    _refused("one-partition-twice", ("t", 0, [0]), ("t", 0, [5])),
    _refused("one-partition-twice-and-well", ("t", 0, [5]), ("t", 0, [0])),
    case("reassign-odd-names", alter(("=", 0, [0]), ("=a/b", 0, [0]), ("=..", 0, [0]))),
)  # fmt: skip


def update_features(version: int, *updates: FeatureUpdateKey) -> Step:
    request = UpdateFeaturesRequest(feature_updates=list(updates))
    return step(UpdateFeaturesRequest, version, lambda _: request)


def feature(name: str, level: int, upgrade_type: int = UPGRADE) -> FeatureUpdateKey:
    return FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)


def allocate(broker: int, epoch: int) -> Step:
    request = AllocateProducerIdsRequest(broker_id=broker, broker_epoch=epoch)
    return step(AllocateProducerIdsRequest, 0, lambda _: request)


_FEATURES = (
    *(
        case(
            f"features-v{v}",
            update_features(v),
            update_features(v, feature("metadata.version", 1), feature("x", 1)),
            update_features(v, feature("x", 0)),
            update_features(v, feature("", 1)),
            update_features(v, feature("x", 1), feature("x", 2)),
        )
        for v in range(2)
    ),
    case("features-lowered-v0", update_features(
        0, FeatureUpdateKey(feature="x", max_version_level=0, allow_downgrade=True)
    )),
    case(
        "features-lowered-v1",
        *(update_features(1, feature("x", 0, kind)) for kind in (0, 2, 3, 9)),
        *(update_features(1, feature("x", 1, kind)) for kind in (0, 2, 3, 9)),
    ),
    case("producer-ids-of-nobody", allocate(9, -1), allocate(0, -1), allocate(0, 0)),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_REASSIGNMENTS, *_FEATURES)
