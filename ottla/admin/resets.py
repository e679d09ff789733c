"""Where a group shall go on: the offset that is meant in each partition, within what is there."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.consuming import starting_offsets
from ottla.admin.offsets import EARLIEST, LATEST


class BadReset(ValueError):
    """What is asked for cannot be meant; the message says why."""


class Kind(Enum):
    EARLIEST = auto()
    LATEST = auto()
    OFFSET = auto()
    SHIFT = auto()
    TIME = auto()


class Target(NamedTuple):
    """`number` is the offset, how far to shift, or the time in ms."""

    kind: Kind
    number: int = 0


class Move(NamedTuple):
    """`wanted` may lie outside of what the partition holds; `after` never does."""

    partition: TopicPartition
    before: int | None
    wanted: int
    after: int
    latest: int

    @property
    def lag_after(self) -> int:
        return self.latest - self.after


async def plan(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    committed: Mapping[TopicPartition, int],
    target: Target | Mapping[TopicPartition, int],
) -> list[Move]:
    """`target` is one for all partitions, or an offset for each."""
    earliest = await starting_offsets(cluster, partitions, EARLIEST)
    latest = await starting_offsets(cluster, partitions, LATEST)
    if not isinstance(target, Target):
        wanted = {each: target[each] for each in partitions}
    elif target.kind is Kind.TIME:
        wanted = await starting_offsets(cluster, partitions, target.number)
    else:
        wanted = {
            each: _wanted(target, each, committed.get(each), earliest[each], latest[each])
            for each in partitions
        }
    return [
        Move(
            partition=each,
            before=committed.get(each),
            wanted=wanted[each],
            after=min(max(wanted[each], earliest[each]), latest[each]),
            latest=latest[each],
        )
        for each in partitions
    ]


def _wanted(
    target: Target, partition: TopicPartition, before: int | None, earliest: int, latest: int
) -> int:
    match target.kind:
        case Kind.EARLIEST:
            return earliest
        case Kind.LATEST:
            return latest
        case Kind.SHIFT:
            if before is None:
                raise BadReset(f"{partition} has no committed offset that could be shifted")
            return before + target.number
        case _:
            return target.number


def read_offsets(lines: Iterable[str], group: str) -> dict[TopicPartition, int]:
    """`topic,partition,offset` a line, or `group,topic,partition,offset`, as Kafka exports it."""
    offsets: dict[TopicPartition, int] = {}
    for number, row in enumerate(csv.reader(lines), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        *group_cell, topic, partition, offset = cells if len(cells) in (3, 4) else ("", "", "")
        if not topic or not partition.isdecimal() or not offset.isdecimal():
            raise BadReset(f"line {number} is not topic,partition,offset: {','.join(row)}")
        if group_cell in ([], [group]):
            offsets[TopicPartition(topic, int(partition))] = int(offset)
    if not offsets:
        raise BadReset(f"there is no offset for the group {group!r} in it")
    return offsets


def write_offsets(moves: Iterable[Move]) -> str:
    """What `read_offsets` and Kafka's own tool read."""
    return "".join(
        f"{move.partition.topic},{move.partition.partition},{move.after}\n" for move in moves
    )
