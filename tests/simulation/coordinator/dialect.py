"""The group protocol as consumers of three ages speak it: the same questions, other versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.protocol.apis.heartbeat import HeartbeatRequest
from ottla.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.apis.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
)
from ottla.protocol.apis.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from ottla.protocol.errors import ErrorCode
from tests.simulation.coordinator.model import Sent

TOPIC = "orders"
PROTOCOL_TYPE = "consumer"
_GROUPS_FROM = 8
_MEMBERS_FROM = 3


class Dialect(NamedTuple):
    join: int
    sync: int
    heartbeat: int
    leave: int
    commit: int
    fetch: int

    @property
    def knows_static(self) -> bool:
        return self.join >= OF_2_3.join


OF_3_9 = Dialect(join=9, sync=5, heartbeat=4, leave=5, commit=9, fetch=9)
OF_2_3 = Dialect(join=5, sync=3, heartbeat=3, leave=3, commit=7, fetch=5)
OF_0_9 = Dialect(join=0, sync=0, heartbeat=0, leave=0, commit=2, fetch=1)
DIALECTS = (OF_3_9, OF_2_3, OF_0_9)


class Identity(NamedTuple):
    """Under which name a consumer asks."""

    group: str
    member_id: str
    instance_id: str | None
    generation: int


def join_request(
    who: Identity,
    protocols: Mapping[str, bytes],
    *,
    session_timeout_ms: int,
    rebalance_timeout_ms: int,
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=who.group,
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=who.member_id,
        group_instance_id=who.instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols.items()
        ],
    )


def sync_request(
    who: Identity, protocol: str, assignments: Mapping[str, bytes]
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=who.group,
        generation_id=who.generation,
        member_id=who.member_id,
        group_instance_id=who.instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=protocol,
        assignments=[
            SyncGroupRequestAssignment(member_id=member_id, assignment=data)
            for member_id, data in assignments.items()
        ],
    )


def heartbeat_request(who: Identity) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=who.group,
        generation_id=who.generation,
        member_id=who.member_id,
        group_instance_id=who.instance_id,
    )


def leave_request(who: Identity, version: int) -> LeaveGroupRequest:
    if version < _MEMBERS_FROM:
        return LeaveGroupRequest(group_id=who.group, member_id=who.member_id)
    member = MemberIdentity(member_id=who.member_id, group_instance_id=who.instance_id)
    return LeaveGroupRequest(group_id=who.group, members=[member])


def commit_request(who: Identity, commits: Sequence[Sent]) -> OffsetCommitRequest:
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=each.partition,
            committed_offset=each.offset,
            committed_metadata=each.metadata,
        )
        for each in commits
    ]
    return OffsetCommitRequest(
        group_id=who.group,
        generation_id_or_member_epoch=who.generation,
        member_id=who.member_id,
        group_instance_id=who.instance_id,
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=partitions)],
    )


def fetch_request(group: str, partitions: Sequence[int], version: int) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=list(partitions))]
    if version < _GROUPS_FROM:
        return OffsetFetchRequest(group_id=group, topics=topics)
    return OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)], require_stable=True
    )


def fetched(
    answer: OffsetFetchResponse, version: int
) -> tuple[ErrorCode, list[OffsetFetchResponsePartition]]:
    """Before version 2 an error of the whole is told for every partition."""
    if version >= _GROUPS_FROM:
        [group] = answer.groups
        error, topics = group.error_code, group.topics
    else:
        error, topics = answer.error_code, answer.topics
    partitions = [each for topic in topics for each in topic.partitions]
    if not error and partitions and version < _GROUPS_FROM:
        error = partitions[0].error_code
    return ErrorCode(error), partitions
