"""Groups: listed, described with their members, deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ottla.admin.cluster import Cluster, TopicPartition, together
from ottla.admin.coordinator import ask_coordinator, find_coordinator
from ottla.admin.refusals import refusal
from ottla.network.client import UnsupportedVersion
from ottla.protocol.apis import consumer_group_describe as modern
from ottla.protocol.apis.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from ottla.protocol.apis.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ottla.protocol.apis.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.protocol.codec import decode_at
from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError
from ottla.protocol.internal.consumer_protocol import ConsumerProtocolAssignment

CLASSIC, CONSUMER = "Classic", "Consumer"  # the kinds of groups since KIP-848
_CONSUMER_PROTOCOL = "consumer"
_EMPTY = "Empty"
_DEAD = "Dead"  # what a broker says of a group it has never heard of
_SUGGESTIONS = 3


class UnknownGroup(KafkaError):
    """There is no such group; the message names those that are spelled much like it."""

    def __init__(self, name: str, existing: Sequence[str]) -> None:
        near = get_close_matches(name, existing, n=_SUGGESTIONS)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {name!r}.{hint}")


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """`protocol_type` is empty for a group that only commits; `type` before Kafka 3.8 too."""

    id: str
    protocol_type: str
    state: str
    type: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class Member:
    """`assigned` is None where the group's protocol is not the consumers', and cannot be read."""

    id: str
    instance_id: str | None
    client_id: str
    host: str
    assigned: tuple[TopicPartition, ...] | None


@dataclass(frozen=True, slots=True)
class Group:
    id: str
    state: str
    type: str
    protocol_type: str
    assignor: str
    coordinator: int
    members: tuple[Member, ...]

    @property
    def exists(self) -> bool:
        return self.state != _DEAD

    @property
    def may_be_changed_from_outside(self) -> bool:
        """Offsets are the members' own while there are any."""
        return self.state in (_EMPTY, _DEAD)

    def owner_of(self, partition: TopicPartition) -> Member | None:
        return next((each for each in self.members if partition in (each.assigned or ())), None)


async def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """Of all brokers, by id."""
    brokers = await cluster.broker_ids()
    answers = await together(_list_at(cluster, broker) for broker in brokers)
    listed = sorted((each for answer in answers for each in answer), key=lambda each: each.id)
    return [await _with_state(cluster, each) for each in listed]


async def describe(cluster: Cluster, name: str) -> Group:
    """A group that nobody has heard of has the state `Dead`, as the broker says."""
    request = DescribeGroupsRequest(groups=[name])
    answer = await ask_coordinator(
        cluster, name, request, DescribeGroupsResponse, lambda given: [given.groups[0].error_code]
    )
    (told,) = answer.groups
    if told.error_code not in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND):
        raise refusal(told.error_code)
    coordinator = await find_coordinator(cluster, name)
    if told.group_state == _DEAD:
        return await _described_by_its_own_api(cluster, name) or _group(told, coordinator)
    return _group(told, coordinator)


async def describe_existing(cluster: Cluster, name: str) -> Group:
    group = await describe(cluster, name)
    if not group.exists:
        raise await unknown_group(cluster, name)
    return group


async def delete(cluster: Cluster, names: Sequence[str]) -> dict[str, KafkaError | None]:
    """For each group what was refused, or None when it is gone with its offsets."""
    results: dict[str, KafkaError | None] = {}
    for name in names:
        answer = await ask_coordinator(
            cluster,
            name,
            DeleteGroupsRequest(groups_names=[name]),
            DeleteGroupsResponse,
            lambda given: [each.error_code for each in given.results],
        )
        (code,) = [each.error_code for each in answer.results]
        if code == ErrorCode.GROUP_ID_NOT_FOUND:
            results[name] = await unknown_group(cluster, name)
        else:
            results[name] = None if code == ErrorCode.NONE else refusal(code)
    return results


async def unknown_group(cluster: Cluster, name: str) -> UnknownGroup:
    return UnknownGroup(name, [each.id for each in await list_groups(cluster)])


async def _list_at(cluster: Cluster, broker: int) -> list[ListedGroup]:
    try:
        answer = await cluster.ask_broker(broker, ListGroupsRequest(), ListGroupsResponse)
    except UnsupportedVersion as cause:
        raise UnsupportedVersion(f"{cause.detail}: it has no groups yet") from cause
    if answer.error_code != ErrorCode.NONE:
        raise refusal(answer.error_code)
    return [
        ListedGroup(
            id=each.group_id,
            protocol_type=each.protocol_type,
            state=each.group_state,
            type=each.group_type.capitalize(),
            coordinator=broker,
        )
        for each in answer.groups
    ]


async def _with_state(cluster: Cluster, listed: ListedGroup) -> ListedGroup:
    """A broker older than Kafka 2.6 tells the state only of the group that is asked for."""
    if listed.state:
        return listed
    return replace(listed, state=(await describe(cluster, listed.id)).state)


async def _described_by_its_own_api(cluster: Cluster, name: str) -> Group | None:
    """A group of the new protocol (KIP-848) is dead to the old API; None if there is none."""
    request = modern.ConsumerGroupDescribeRequest(
        group_ids=[name], include_authorized_operations=False
    )
    try:
        answer = await ask_coordinator(
            cluster,
            name,
            request,
            modern.ConsumerGroupDescribeResponse,
            lambda given: [given.groups[0].error_code],
        )
    except UnsupportedVersion:
        return None
    (told,) = answer.groups
    if told.error_code != ErrorCode.NONE:
        return None
    return Group(
        id=told.group_id,
        state=told.group_state,
        type=CONSUMER,
        protocol_type=_CONSUMER_PROTOCOL,
        assignor=told.assignor_name,
        coordinator=await find_coordinator(cluster, name),
        members=tuple(map(_modern_member, told.members)),
    )


def _group(told: DescribedGroup, coordinator: int) -> Group:
    can_be_read = told.protocol_type in ("", _CONSUMER_PROTOCOL)
    return Group(
        id=told.group_id,
        state=told.group_state,
        type=CLASSIC,
        protocol_type=told.protocol_type,
        assignor=told.protocol_data,
        coordinator=coordinator,
        members=tuple(_member(each, can_be_read=can_be_read) for each in told.members),
    )


def _member(told: DescribedGroupMember, *, can_be_read: bool) -> Member:
    return Member(
        id=told.member_id,
        instance_id=told.group_instance_id,
        client_id=told.client_id,
        host=told.client_host,
        assigned=read_assignment(told.member_assignment) if can_be_read else None,
    )


def _modern_member(told: modern.Member) -> Member:
    assigned = [
        TopicPartition(topic.topic_name, index)
        for topic in told.assignment.topic_partitions
        for index in topic.partitions
    ]
    return Member(
        id=told.member_id,
        instance_id=told.instance_id,
        client_id=told.client_id,
        host=told.client_host,
        assigned=tuple(sorted(assigned)),
    )


def read_assignment(blob: bytes) -> tuple[TopicPartition, ...] | None:
    """What the group's leader gave a member; nothing yet while the group rebalances."""
    if not blob:
        return ()
    version = int.from_bytes(blob[:2], "big", signed=True)
    try:
        # Newer versions add at the end: what is known comes first.
        known = min(version, ConsumerProtocolAssignment.newest)
        assignment, _ = decode_at(ConsumerProtocolAssignment, blob, known, 2)
    except ProtocolError:
        return None
    assigned = [
        TopicPartition(topic.topic, index)
        for topic in assignment.assigned_partitions
        for index in topic.partitions
    ]
    return tuple(sorted(assigned))
