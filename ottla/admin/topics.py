"""Topics: made, listed, described, expanded, deleted."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.refusals import refusal
from ottla.protocol.apis.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from ottla.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.protocol.apis.metadata import MetadataResponsePartition, MetadataResponseTopic
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.primitives import ZERO_UUID

BROKER_DEFAULT = -1
# A topic just made may not have reached the broker that is asked.
_LOOKS = 3
_LAST_VERSION_WITH_NAMES = 5
_SUGGESTIONS = 3


class UnknownTopic(KafkaError):
    """There is no such topic; the message names those that are spelled much like it."""

    def __init__(self, name: str, existing: Sequence[str]) -> None:
        near = get_close_matches(name, existing, n=_SUGGESTIONS)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        detail = f"there is no topic {name!r}.{hint}"
        super().__init__(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)


@dataclass(frozen=True, slots=True)
class Partition:
    index: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    offline: tuple[int, ...]

    @property
    def is_under_replicated(self) -> bool:
        return len(self.in_sync) < len(self.replicas)


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    id: str | None
    is_internal: bool
    partitions: tuple[Partition, ...]

    @property
    def replication_factor(self) -> int:
        return max((len(each.replicas) for each in self.partitions), default=0)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """Either numbers of partitions and replicas, or for each partition the brokers that hold it."""

    name: str
    partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    assignments: tuple[tuple[int, ...], ...] = ()
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Created:
    """What came of a new topic; a broker older than Kafka 2.4 does not tell the numbers."""

    name: str
    id: str | None
    partitions: int | None
    replication_factor: int | None


async def create(
    cluster: Cluster, topics: Sequence[NewTopic], *, validate_only: bool = False
) -> dict[str, Created | KafkaError]:
    request = CreateTopicsRequest(
        topics=[_creatable(topic) for topic in topics],
        timeout_ms=cluster.operation_timeout_ms,
        validate_only=validate_only,
    )
    answer = await cluster.ask_controller(
        request, CreateTopicsResponse, lambda given: [each.error_code for each in given.topics]
    )
    results: dict[str, Created | KafkaError] = {}
    for each in answer.topics:
        if each.error_code != ErrorCode.NONE:
            results[each.name] = refusal(each.error_code, each.error_message)
        else:
            results[each.name] = Created(
                name=each.name,
                id=_known_id(each.topic_id),
                partitions=_known(each.num_partitions),
                replication_factor=_known(each.replication_factor),
            )
    return results


async def list_topics(cluster: Cluster) -> list[Topic]:
    """All that we may see, by name."""
    metadata = await cluster.metadata()
    return sorted(map(_topic, metadata.topics), key=lambda topic: topic.name)


async def describe(cluster: Cluster, names: Sequence[str]) -> list[Topic]:
    """In the order of the names; `UnknownTopic` for the first that does not exist."""
    if not names:
        return []
    for look in range(_LOOKS):
        await cluster.back_off(look)
        metadata = await cluster.metadata(names)
        found = {topic.name: topic for topic in metadata.topics}
        codes = [found[name].error_code for name in names]
        if ErrorCode.UNKNOWN_TOPIC_OR_PARTITION not in codes:
            break
    for name, code in zip(names, codes, strict=True):
        if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise await unknown_topic(cluster, name)
        if code not in (ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE):
            raise KafkaError(ErrorCode(code), f"topic {name!r}: {ErrorCode(code).meaning}")
    return [_topic(found[name]) for name in names]


async def partitions_of(cluster: Cluster, names: Sequence[str]) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, partition.index)
        for topic in await describe(cluster, names)
        for partition in topic.partitions
    ]


async def check_partitions(cluster: Cluster, partitions: Sequence[TopicPartition]) -> None:
    """Refuses the first that does not exist, at once and in words."""
    topics = list(dict.fromkeys(each.topic for each in partitions))
    counts = {topic.name: len(topic.partitions) for topic in await describe(cluster, topics)}
    for topic, partition in partitions:
        if partition >= counts[topic]:
            detail = f"{topic} has no partition {partition}; it has 0 to {counts[topic] - 1}."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)


async def delete(cluster: Cluster, names: Sequence[str]) -> dict[str, KafkaError | None]:
    """For each topic what was refused, or None when it is gone."""
    request = DeleteTopicsRequest(topic_names=list(names), timeout_ms=cluster.operation_timeout_ms)
    answer = await cluster.ask_controller(
        request,
        DeleteTopicsResponse,
        lambda given: [each.error_code for each in given.responses],
        at_most=_LAST_VERSION_WITH_NAMES,
    )
    results: dict[str, KafkaError | None] = {}
    for each in answer.responses:
        name = each.name or ""
        if each.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            results[name] = await unknown_topic(cluster, name)
        elif each.error_code != ErrorCode.NONE:
            results[name] = refusal(each.error_code, each.error_message)
        else:
            results[name] = None
    return results


async def expand(
    cluster: Cluster,
    name: str,
    *,
    partitions: int,
    assignments: Sequence[Sequence[int]] = (),
    validate_only: bool = False,
) -> None:
    """Up to this many partitions; `assignments` are the brokers of each new one."""
    held_by = [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in assignments]
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=partitions, assignments=held_by or None)],
        timeout_ms=cluster.operation_timeout_ms,
        validate_only=validate_only,
    )
    answer = await cluster.ask_controller(
        request, CreatePartitionsResponse, lambda given: [each.error_code for each in given.results]
    )
    for each in answer.results:
        if each.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise await unknown_topic(cluster, name)
        if each.error_code != ErrorCode.NONE:
            raise refusal(each.error_code, each.error_message)


async def unknown_topic(cluster: Cluster, name: str) -> UnknownTopic:
    return UnknownTopic(name, [topic.name for topic in await list_topics(cluster)])


def _creatable(topic: NewTopic) -> CreatableTopic:
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
        for index, brokers in enumerate(topic.assignments)
    ]
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in topic.configs.items()]
    return CreatableTopic(
        name=topic.name,
        # Brokers refuse numbers beside an assignment, which says it all.
        num_partitions=BROKER_DEFAULT if assignments else topic.partitions,
        replication_factor=BROKER_DEFAULT if assignments else topic.replication_factor,
        assignments=assignments,
        configs=configs,
    )


def _topic(told: MetadataResponseTopic) -> Topic:
    partitions = sorted(map(_partition, told.partitions), key=lambda each: each.index)
    return Topic(
        name=told.name or "",
        id=_known_id(told.topic_id),
        is_internal=told.is_internal,
        partitions=tuple(partitions),
    )


def _partition(told: MetadataResponsePartition) -> Partition:
    return Partition(
        index=told.partition_index,
        leader=_known(told.leader_id),
        leader_epoch=told.leader_epoch,
        replicas=tuple(told.replica_nodes),
        in_sync=tuple(told.isr_nodes),
        offline=tuple(told.offline_replicas),
    )


def _known(number: int) -> int | None:
    return None if number == -1 else number


def _known_id(topic_id: bytes) -> str | None:
    """As Kafka writes it."""
    text = urlsafe_b64encode(topic_id).rstrip(b"=").decode()
    return None if topic_id == ZERO_UUID else text
