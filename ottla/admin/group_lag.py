"""Looks at a group again and again: where it is, where its partitions end, how old the rest is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ottla.admin import group_offsets
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.groups import Group, Member, describe_existing
from ottla.admin.lag import Observation, Status, Window, judge_group, lag_of
from ottla.admin.offsets import LATEST, FoundOffset, find
from ottla.admin.unread import unread_timestamps
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """`offset` is None where nothing was committed, `end_offset` where the topic is gone.

    `age_ms` is that of the next unread record; 0 if all is read, None if it cannot be told.
    """

    partition: TopicPartition
    owner: Member | None
    offset: int | None
    end_offset: int | None
    age_ms: int | None
    window: Window | None

    @property
    def lag(self) -> int | None:
        return lag_of(self.window.observations[-1]) if self.window else None

    @property
    def status(self) -> Status:
        return self.window.status() if self.window else Status.OK


@dataclass(frozen=True, slots=True)
class GroupLag:
    group: Group
    at_ms: int
    samples: int
    partitions: tuple[PartitionLag, ...]

    @property
    def status(self) -> Status:
        return judge_group(each.status for each in self.partitions)


class LagWatch:
    """Remembers what it saw of one group, so that each look can be judged by those before it."""

    def __init__(self, cluster: Cluster, group: str, clock: Clock) -> None:
        self._cluster = cluster
        self._group = group
        self._clock = clock
        self._samples = 0
        self._windows: dict[TopicPartition, Window] = {}

    async def look(self, *, with_ages: bool = True) -> GroupLag:
        """Ages cost a fetch for each partition that is behind."""
        group = await describe_existing(self._cluster, self._group)
        offsets = {
            partition: each.offset
            for partition, each in (
                await group_offsets.committed(self._cluster, self._group)
            ).items()
        }
        partitions = sorted({**dict.fromkeys(_assigned(group)), **offsets})
        ends = await end_offsets(self._cluster, partitions)
        now_ms = self._clock.now_ms()
        self._samples += 1
        for partition, offset in offsets.items():
            if partition in ends:
                owned = group.owner_of(partition) is not None
                window = self._windows.setdefault(partition, Window())
                window.observe(Observation(now_ms, offset, ends[partition], owned))
        ages = await self._ages(offsets, ends, now_ms) if with_ages else {}
        return GroupLag(
            group=group,
            at_ms=now_ms,
            samples=self._samples,
            partitions=tuple(
                PartitionLag(
                    partition=each,
                    owner=group.owner_of(each),
                    offset=offsets.get(each),
                    end_offset=ends.get(each),
                    age_ms=ages.get(each),
                    window=self._windows.get(each) if each in offsets and each in ends else None,
                )
                for each in partitions
            ),
        )

    async def _ages(
        self, offsets: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], now_ms: int
    ) -> dict[TopicPartition, int]:
        known = {each: offset for each, offset in offsets.items() if each in ends}
        behind = {each: offset for each, offset in known.items() if offset < ends[each]}
        found = await unread_timestamps(self._cluster, behind) if behind else {}
        ages = {each: 0 for each in known if each not in behind}
        for partition, timestamp in found.items():
            if isinstance(timestamp, int):
                ages[partition] = max(0, now_ms - timestamp)
        return ages


async def end_offsets(
    cluster: Cluster, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, int]:
    """Where they end; without those that are gone or have no leader, which are not waited for."""
    metadata = await cluster.metadata(list(dict.fromkeys(each.topic for each in partitions)))
    led = {
        TopicPartition(topic.name or "", each.partition_index)
        for topic in metadata.topics
        for each in topic.partitions
        if each.error_code != ErrorCode.LEADER_NOT_AVAILABLE
    }
    asked = [each for each in partitions if each in led]
    found = await find(cluster, asked, LATEST) if asked else {}
    return {
        partition: answer.offset
        for partition, answer in found.items()
        if isinstance(answer, FoundOffset) and answer.offset is not None
    }


def _assigned(group: Group) -> list[TopicPartition]:
    return [each for member in group.members for each in member.assigned or ()]
