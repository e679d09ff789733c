"""A member of a group in few words, and a broker whose coordinator is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.apis.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from ottla.protocol.apis.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.store import MemoryTree
from tests.unit.handlers.one_broker import Client, OneBroker, one_broker

GROUP = "readers"


@asynccontextmanager
async def coordinated(
    *, disk: SimulatedDisk | None = None, tree: MemoryTree | None = None, **properties: str
) -> AsyncIterator[OneBroker]:
    """A broker with a topic "orders" of two partitions, and its coordinator ready."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    settings = {
        "offsets.topic.num.partitions": "2",
        "group.initial.rebalance.delay.ms": "0",
        **named,
    }
    async with one_broker(settings, disk=disk, tree=tree) as broker:
        if "orders" not in broker.services.metadata.image.topics:
            await broker.create("orders", 2)
        await until_found(broker)
        yield broker


async def find(broker: OneBroker, version: int = 3) -> FindCoordinatorResponse:
    request = FindCoordinatorRequest(key=GROUP)
    return await broker.ask(request, FindCoordinatorResponse, version)


async def until_found(broker: OneBroker) -> None:
    """It is asked for, made, led and loaded."""
    for _ in range(1000):
        if (await find(broker)).error_code == ErrorCode.NONE:
            break
    await broker.until(lambda: not broker.services.groups.describe(GROUP).error)


def join_request(
    member_id: str = "",
    *,
    instance_id: str | None = None,
    session_ms: int = 10_000,
    rebalance_ms: int = 60_000,
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        member_id=member_id,
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"wants")],
    )


class Member:
    """One connection, and who it is in the group."""

    def __init__(self, broker: OneBroker) -> None:
        self.broker = broker
        self.client = Client(broker.broker)
        self.id = ""
        self.generation = -1

    async def join(self, version: int = 3) -> JoinGroupResponse:
        """Before version 4 nobody must come twice."""
        response = await self.client.ask(join_request(self.id), version)
        assert isinstance(response, JoinGroupResponse)
        self.id, self.generation = response.member_id, response.generation_id
        return response

    async def sync(self, **assignments: bytes) -> SyncGroupResponse:
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.id,
            assignments=[
                SyncGroupRequestAssignment(member_id=self.id, assignment=part)
                for part in assignments.values()
            ],
        )
        response = await self.client.ask(request, 3)
        assert isinstance(response, SyncGroupResponse)
        return response

    async def heartbeat(self) -> ErrorCode:
        request = HeartbeatRequest(group_id=GROUP, generation_id=self.generation, member_id=self.id)
        response = await self.client.ask(request, 3)
        assert isinstance(response, HeartbeatResponse)
        return ErrorCode(response.error_code)

    async def leave(self) -> ErrorCode:
        request = LeaveGroupRequest(group_id=GROUP, members=[MemberIdentity(member_id=self.id)])
        response = await self.client.ask(request, 4)
        assert isinstance(response, LeaveGroupResponse)
        return ErrorCode(response.members[0].error_code)


async def member_of(broker: OneBroker) -> Member:
    """The only one, in a stable group."""
    member = Member(broker)
    assert (await member.join()).error_code == ErrorCode.NONE
    assert (await member.sync(all=b"all")).assignment == b"all"
    return member


async def commit(
    broker: OneBroker, offset: int, *, partition: int = 0, version: int = 8, topic: str = "orders"
) -> ErrorCode:
    """Without being a member."""
    part = OffsetCommitRequestPartition(
        partition_index=partition, committed_offset=offset, committed_metadata="note"
    )
    request = OffsetCommitRequest(
        group_id=GROUP, topics=[OffsetCommitRequestTopic(name=topic, partitions=[part])]
    )
    response = await broker.ask(request, OffsetCommitResponse, version)
    return ErrorCode(response.topics[0].partitions[0].error_code)


async def committed(
    broker: OneBroker, *, partition: int = 0, version: int = 5, topic: str = "orders"
) -> tuple[int, ErrorCode]:
    """The offset; the partition's or the whole answer's error."""
    topics = [OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])]
    request = OffsetFetchRequest(group_id=GROUP, topics=topics)
    response = await broker.ask(request, OffsetFetchResponse, version)
    if response.error_code:
        return -1, ErrorCode(response.error_code)
    [found] = response.topics[0].partitions
    return found.committed_offset, ErrorCode(found.error_code)
