"""The log directories of brokers: what lies where, and moving a replica to another disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.offsets import by_topic
from ottla.admin.refusals import refusal
from ottla.protocol.apis.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.apis.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError


@dataclass(frozen=True, slots=True)
class Replica:
    """`offset_lag` is how far it is behind: a follower its leader, a future one the present one."""

    partition: TopicPartition
    size_bytes: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """A directory that failed has an error and no replicas. Older brokers do not tell the space."""

    broker_id: int
    path: str
    error: KafkaError | None
    total_bytes: int | None
    usable_bytes: int | None
    replicas: tuple[Replica, ...]


async def describe(
    cluster: Cluster,
    *,
    broker_ids: Sequence[int] | None = None,
    partitions: Sequence[TopicPartition] | None = None,
) -> list[LogDir]:
    """Of all brokers and all partitions, unless some are named."""
    wanted = None
    if partitions is not None:
        wanted = [
            DescribableLogDirTopic(topic=topic, partitions=indexes)
            for topic, indexes in by_topic(partitions).items()
        ]
    found: list[LogDir] = []
    for broker_id in await cluster.broker_ids() if broker_ids is None else broker_ids:
        request = DescribeLogDirsRequest(topics=wanted)
        answer = await cluster.ask_broker(broker_id, request, DescribeLogDirsResponse)
        if answer.error_code != ErrorCode.NONE:
            raise refusal(answer.error_code)
        found += [_log_dir(broker_id, told) for told in answer.results]
    return found


async def move(cluster: Cluster, partition: TopicPartition, *, broker_id: int, path: str) -> None:
    """Starts the move: until the copy has caught up, both directories show the replica."""
    topic = AlterReplicaLogDirTopic(name=partition.topic, partitions=[partition.partition])
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[topic])])
    answer = await cluster.ask_broker(broker_id, request, AlterReplicaLogDirsResponse)
    codes = [each.error_code for told in answer.results for each in told.partitions]
    for code in codes:
        if code == ErrorCode.LOG_DIR_NOT_FOUND:
            raise refusal(code, await _known_paths(cluster, broker_id, path))
        if code != ErrorCode.NONE:
            raise refusal(code)


async def _known_paths(cluster: Cluster, broker_id: int, path: str) -> str:
    paths = ", ".join(each.path for each in await describe(cluster, broker_ids=[broker_id]))
    return f"broker {broker_id} has no log directory {path}; it has {paths}."


def _log_dir(broker_id: int, told: DescribeLogDirsResult) -> LogDir:
    replicas = [
        Replica(
            partition=TopicPartition(topic.name, each.partition_index),
            size_bytes=each.partition_size,
            offset_lag=each.offset_lag,
            is_future=each.is_future_key,
        )
        for topic in told.topics
        for each in topic.partitions
    ]
    failed = told.error_code != ErrorCode.NONE
    return LogDir(
        broker_id=broker_id,
        path=told.log_dir,
        error=refusal(told.error_code) if failed else None,
        total_bytes=None if told.total_bytes == -1 else told.total_bytes,
        usable_bytes=None if told.usable_bytes == -1 else told.usable_bytes,
        replicas=tuple(sorted(replicas, key=lambda replica: replica.partition)),
    )
