"""Records from a topic: where to begin in each partition, and when it is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.offsets import EARLIEST, LATEST, FoundOffset, find
from ottla.network.client import UnsupportedVersion
from ottla.protocol.apis.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.protocol.errors import KafkaError

_WAIT_S = 0.2


@dataclass(frozen=True, slots=True)
class IncomingRecord:
    """`timestamp` is None where the broker has none."""

    partition: TopicPartition
    offset: int
    timestamp: int | None
    is_append_time: bool
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class EndReached(NamedTuple):
    """There is no more in the partition, for now."""

    partition: TopicPartition


class Source(Protocol):
    """What records come from. An empty list means that none came in time."""

    def poll(self, timeout_s: float) -> Sequence[IncomingRecord | EndReached]: ...
    def assigned(self) -> Sequence[TopicPartition]: ...


def batches(
    source: Source, *, at_most: int | None, stop_at_end: bool, is_stopped: Callable[[], bool]
) -> Iterator[list[IncomingRecord]]:
    """As they come, until there were enough, or every partition has ended, or somebody stops it."""
    ended: dict[TopicPartition, None] = {}
    left = at_most
    while (left is None or left > 0) and not is_stopped():
        records = []
        for event in source.poll(_WAIT_S):
            if isinstance(event, EndReached):
                ended[event.partition] = None
            else:
                ended.pop(event.partition, None)
                records.append(event)
        if records := records[:left]:
            left = None if left is None else left - len(records)
            yield records
        assigned = source.assigned() if stop_at_end else ()
        if assigned and all(partition in ended for partition in assigned):
            return


def next_offsets(records: Sequence[IncomingRecord]) -> dict[TopicPartition, int]:
    """Where whoever has read these goes on, as a group commits it."""
    return {each.partition: each.offset + 1 for each in records}


async def check_groups(cluster: Cluster) -> None:
    """Whether there are groups at all: else a member would look for its coordinator for ever."""
    try:
        await cluster.ask_any(ListGroupsRequest(), ListGroupsResponse)
    except UnsupportedVersion as cause:
        raise UnsupportedVersion(f"{cause.detail}: it has no groups yet") from cause


async def starting_offsets(
    cluster: Cluster, partitions: Sequence[TopicPartition], at: int
) -> dict[TopicPartition, int]:
    """`at` as in `offsets.find`; where no record is that late, the end."""
    found = _sound(await find(cluster, partitions, at))
    late = [partition for partition in partitions if found[partition].offset is None]
    found |= _sound(await find(cluster, late, LATEST)) if late else {}
    return {partition: each.offset or 0 for partition, each in found.items()}


async def offsets_before_end(
    cluster: Cluster, partitions: Sequence[TopicPartition], count: int
) -> dict[TopicPartition, int]:
    """So that the last `count` offsets of each are read, or as many as there are."""
    first = await starting_offsets(cluster, partitions, EARLIEST)
    end = await starting_offsets(cluster, partitions, LATEST)
    return {each: max(first[each], end[each] - count) for each in partitions}


def _sound(
    found: dict[TopicPartition, FoundOffset | KafkaError],
) -> dict[TopicPartition, FoundOffset]:
    sound = {}
    for partition, answer in found.items():
        if isinstance(answer, KafkaError):
            raise KafkaError(answer.code, f"{partition}: {answer.detail}")
        sound[partition] = answer
    return sound
