"""Steps of groups in few words: a group by its short name, a member by its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from ottla.protocol.apis.delete_groups import DeleteGroupsRequest
from ottla.protocol.apis.describe_groups import DescribeGroupsRequest
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest
from ottla.protocol.apis.heartbeat import HeartbeatRequest
from ottla.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.apis.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.apis.list_groups import ListGroupsRequest
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.apis.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from ottla.protocol.apis.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.differential.case import Given, Step, World, step, value_of

# A subscription of the consumer protocol to no topic at all.
SUBSCRIPTION = b"\0\0\0\0\0\0\xff\xff\xff\xff"
RANGE = (("range", SUBSCRIPTION),)


def member(number: int) -> Callable[[World], str]:
    """The id that the broker gave to the first, second ... who joined."""
    return lambda world: world.members[number - 1]


def via(link: str, asked: Step) -> Step:
    """On a connection of its own."""
    return replace(asked, link=link)


def parked(link: str, asked: Step) -> Step:
    """As `via`, and not answered before others have done something."""
    return replace(asked, link=link, is_parked=True)


def find(version: int, *keys: str, key_type: int = 0) -> Step:
    def build(world: World) -> FindCoordinatorRequest:
        names = [world.name(key) for key in keys]
        if version < 4:
            return FindCoordinatorRequest(key=names[0], key_type=key_type)
        return FindCoordinatorRequest(coordinator_keys=names, key_type=key_type)

    return step(FindCoordinatorRequest, version, build)


def join(
    version: int,
    who: Given[str] = "",
    *,
    group: str = "g",
    instance: str | None = None,
    session_ms: int = 30_000,
    rebalance_ms: int = 20_000,
    protocol_type: str = "consumer",
    protocols: Sequence[tuple[str, bytes]] = RANGE,
    reason: str | None = None,
) -> Step:
    return step(
        JoinGroupRequest,
        version,
        lambda world: JoinGroupRequest(
            group_id=world.name(group),
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=value_of(who, world),
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=n, metadata=m) for n, m in protocols],
            reason=reason,
        ),
    )


def joined(version: int = 5, **given: object) -> tuple[Step, ...]:
    """A first member's way into a group, with the detour that asks for its id."""
    if version < 4 or given.get("instance"):
        return (join(version, **given),)  # type: ignore[arg-type]
    return (join(version, **given), join(version, member(1), **given))  # type: ignore[arg-type]


def sync(
    version: int,
    who: Given[str],
    generation: int = 1,
    assignments: Mapping[Given[str], bytes] | None = None,
    *,
    group: str = "g",
    instance: str | None = None,
    protocol_type: str | None = None,
    protocol: str | None = None,
) -> Step:
    return step(
        SyncGroupRequest,
        version,
        lambda world: SyncGroupRequest(
            group_id=world.name(group),
            generation_id=generation,
            member_id=value_of(who, world),
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocol_name=protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=value_of(to, world), assignment=part)
                for to, part in (assignments or {}).items()
            ],
        ),
    )


def heartbeat(
    version: int,
    who: Given[str],
    generation: int = 1,
    *,
    group: str = "g",
    instance: str | None = None,
) -> Step:
    return step(
        HeartbeatRequest,
        version,
        lambda world: HeartbeatRequest(
            group_id=world.name(group),
            generation_id=generation,
            member_id=value_of(who, world),
            group_instance_id=instance,
        ),
    )


def leave(
    version: int, *who: Given[str], group: str = "g", instances: Sequence[str | None] = ()
) -> Step:
    def build(world: World) -> LeaveGroupRequest:
        ids = [value_of(each, world) for each in who]
        if version < 3:
            return LeaveGroupRequest(group_id=world.name(group), member_id=ids[0])
        named = [*instances, *[None] * (len(ids) - len(instances))]
        members = [
            MemberIdentity(member_id=each, group_instance_id=instance)
            for each, instance in zip(ids, named, strict=True)
        ]
        return LeaveGroupRequest(group_id=world.name(group), members=members)

    return step(LeaveGroupRequest, version, build)


class Of(NamedTuple):
    """A partition, and what is committed for it."""

    offset: int = 0
    topic: str = "t"
    partition: int = 0
    metadata: str | None = ""
    leader_epoch: int = -1


def commit(
    version: int,
    *parts: Of,
    who: Given[str] = "",
    generation: int = -1,
    group: str = "g",
    instance: str | None = None,
    retention_ms: int = -1,
    timestamp: int = -1,
) -> Step:
    return step(
        OffsetCommitRequest,
        version,
        lambda world: OffsetCommitRequest(
            group_id=world.name(group),
            generation_id_or_member_epoch=generation,
            member_id=value_of(who, world),
            group_instance_id=instance,
            retention_time_ms=retention_ms,
            topics=[
                OffsetCommitRequestTopic(
                    name=world.name(topic),
                    partitions=[_committed(part, version, timestamp) for part in some],
                )
                for topic, some in groupby(parts, key=lambda part: part.topic)
            ],
        ),
    )


def _committed(part: Of, version: int, timestamp: int) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=part.partition,
        committed_offset=part.offset,
        committed_leader_epoch=part.leader_epoch,
        commit_timestamp=timestamp if version == 1 else -1,
        committed_metadata=part.metadata,
    )


def fetch_offsets(
    version: int,
    *parts: Of,
    everything: bool = False,
    groups: Sequence[str] = ("g",),
    require_stable: bool = False,
) -> Step:
    def build(world: World) -> OffsetFetchRequest:
        topics = [
            OffsetFetchRequestTopic(
                name=world.name(topic), partition_indexes=[part.partition for part in some]
            )
            for topic, some in groupby(parts, key=lambda part: part.topic)
        ]
        asked = None if everything else topics
        if version < 8:
            return OffsetFetchRequest(
                group_id=world.name(groups[0]), topics=asked, require_stable=require_stable
            )
        return OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(group_id=world.name(group), topics=asked)
                for group in groups
            ],
            require_stable=require_stable,
        )

    return step(OffsetFetchRequest, version, build)


def describe(version: int, *groups: str, authorized_operations: bool = False) -> Step:
    return step(
        DescribeGroupsRequest,
        version,
        lambda world: DescribeGroupsRequest(
            groups=[world.name(group) for group in groups or ("g",)],
            include_authorized_operations=authorized_operations,
        ),
    )


def list_groups(version: int, *, states: Sequence[str] = (), types: Sequence[str] = ()) -> Step:
    return step(
        ListGroupsRequest,
        version,
        lambda world: ListGroupsRequest(states_filter=list(states), types_filter=list(types)),
    )


def delete_groups(version: int, *groups: str) -> Step:
    return step(
        DeleteGroupsRequest,
        version,
        lambda world: DeleteGroupsRequest(groups_names=[world.name(group) for group in groups]),
    )


def delete_offsets(*parts: Of, group: str = "g") -> Step:
    return step(
        OffsetDeleteRequest,
        0,
        lambda world: OffsetDeleteRequest(
            group_id=world.name(group),
            topics=[
                OffsetDeleteRequestTopic(
                    name=world.name(topic),
                    partitions=[
                        OffsetDeleteRequestPartition(partition_index=part.partition)
                        for part in some
                    ],
                )
                for topic, some in groupby(parts, key=lambda part: part.topic)
            ],
        ),
    )
