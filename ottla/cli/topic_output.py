"""Prints topics: tables of partitions for people, objects for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from ottla.admin.topics import Partition, Topic
from ottla.cli.outcomes import count
from ottla.cli.output import print_table, visible

_COLUMNS = ("partition", "leader", "replicas", "in sync", "state")


def print_list(topics: Sequence[Topic]) -> None:
    rows = [
        (
            visible(topic.name),
            str(len(topic.partitions)),
            str(topic.replication_factor),
            topic.id or "-",
            "yes" if topic.is_internal else "",
        )
        for topic in topics
    ]
    print_table(("topic", "partitions", "replicas", "id", "internal"), rows)


def print_described(
    topic: Topic, partitions: Sequence[Partition], configs: Mapping[str, str | None]
) -> None:
    name = visible(topic.name)
    replicas = f"replication factor {topic.replication_factor}"
    typer.echo(f"{name}: {count(len(topic.partitions), 'partition')}, {replicas}, id {topic.id}")
    for key, value in configs.items():
        typer.echo(visible(f"  {key}={value}"))
    print_table(_COLUMNS, [_row(partition) for partition in partitions])


def topic_to_json(
    topic: Topic, partitions: Sequence[Partition], configs: Mapping[str, str | None] | None = None
) -> dict[str, object]:
    told: dict[str, object] = {
        "topic": topic.name,
        "id": topic.id,
        "internal": topic.is_internal,
        "partition_count": len(topic.partitions),
        "replication_factor": topic.replication_factor,
    }
    if configs is not None:
        told["configs"] = dict(configs)
        told["partitions"] = [_to_json(partition) for partition in partitions]
    return told


def _row(partition: Partition) -> tuple[str, ...]:
    leader = "none" if partition.leader is None else str(partition.leader)
    return (
        str(partition.index),
        leader,
        _ids(partition.replicas),
        _ids(partition.in_sync),
        _state(partition),
    )


def _state(partition: Partition) -> str:
    words = []
    if partition.leader is None:
        words.append("no leader")
    if partition.is_under_replicated:
        words.append("under-replicated")
    if partition.offline:
        words.append(f"offline: {_ids(partition.offline)}")
    return ", ".join(words) or "ok"


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers)) or "-"


def _to_json(partition: Partition) -> dict[str, object]:
    return {
        "partition": partition.index,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "replicas": list(partition.replicas),
        "in_sync": list(partition.in_sync),
        "offline": list(partition.offline),
        "under_replicated": partition.is_under_replicated,
    }
