"""Groups over the wire: what members hear, what waits, and what outlives the broker."""

from __future__ import annotations

import asyncio

import pytest

from ottla.protocol.apis.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest
from ottla.protocol.apis.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.protocol.apis.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.protocol.apis.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from ottla.protocol.apis.sync_group import SyncGroupRequest, SyncGroupResponse
from ottla.protocol.errors import ErrorCode
from ottla.simulation.store import MemoryTree
from tests.unit.handlers.group_client import (
    GROUP,
    Member,
    commit,
    committed,
    coordinated,
    join_request,
    member_of,
)
from tests.unit.handlers.one_broker import OneBroker
from tests.virtual_time import on_virtual_time, virtual_loop

NONE = ErrorCode.NONE


async def describe(broker: OneBroker) -> tuple[str, list[str]]:
    request = DescribeGroupsRequest(groups=[GROUP])
    [group] = (await broker.ask(request, DescribeGroupsResponse)).groups
    return group.group_state, [member.client_host for member in group.members]


@on_virtual_time
async def test_a_member_joins_gets_its_part_stays_and_leaves() -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        assert (member.generation, await member.heartbeat()) == (1, NONE)
        assert await describe(broker) == ("Stable", ["/test"])
        assert await member.leave() is NONE
        assert await describe(broker) == ("Empty", [])
        assert await member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("version", "protocol"), [(4, ""), (6, ""), (7, None), (9, None)])
@on_virtual_time
async def test_a_new_member_is_first_told_its_id(version: int, protocol: str | None) -> None:
    async with coordinated() as broker:
        answer = await broker.ask(join_request(), JoinGroupResponse, version)
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
        assert answer.member_id.startswith("test-")
        assert (answer.generation_id, answer.protocol_name, answer.leader) == (-1, protocol, "")


@on_virtual_time
async def test_who_waits_for_others_holds_up_only_its_own_connection() -> None:
    async with coordinated() as broker:
        first, second = await member_of(broker), Member(broker)
        joining = asyncio.ensure_future(second.join())
        await asyncio.sleep(0.1)
        behind = second.client.ask(FindCoordinatorRequest(key=GROUP), 0)
        await asyncio.sleep(1)
        assert await first.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
        assert not joining.done()
        assert not behind.done()
        rejoined = await first.join()
        assert (len(rejoined.members), (await joining).generation_id) == (2, 2)
        await behind


@on_virtual_time
async def test_the_first_version_waits_for_a_rejoin_as_long_as_for_a_heartbeat() -> None:
    async with coordinated() as broker:
        first, second = Member(broker), Member(broker)
        await first.join(0)
        await first.sync(all=b"all")
        began = virtual_loop().time()
        joined = await second.join(0)  # the first is silent
        assert (joined.leader, joined.generation_id) == (second.id, 2)
        assert 9 < virtual_loop().time() - began < 12


@on_virtual_time
async def test_offsets_are_stored_and_told() -> None:
    async with coordinated() as broker:
        assert await committed(broker) == (-1, NONE)
        assert await commit(broker, 17) is NONE
        assert await committed(broker) == (17, NONE)
        assert await commit(broker, 1, partition=2) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await commit(broker, 1, topic="unheard") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@on_virtual_time
async def test_version_0_keeps_offsets_in_the_store_and_nowhere_else() -> None:
    async with coordinated() as broker:
        assert await committed(broker, version=0) == (-1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        assert await commit(broker, 17, version=0) is NONE
        assert await committed(broker, version=0) == (17, NONE)
        assert await committed(broker, version=1) == (-1, NONE)
        entry = await broker.store.read(f"/consumers/{GROUP}/offsets/orders/0")
        assert entry is not None
        assert entry.data == b"17"


@on_virtual_time
async def test_offsets_of_partitions_are_deleted_by_name() -> None:
    async with coordinated() as broker:
        await commit(broker, 17)
        partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in (0, 9)]
        topics = [OffsetDeleteRequestTopic(name="orders", partitions=partitions)]
        request = OffsetDeleteRequest(group_id=GROUP, topics=topics)
        response = await broker.ask(request, OffsetDeleteResponse)
        codes = [each.error_code for each in response.topics[0].partitions]
        assert codes == [NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        assert await committed(broker) == (-1, NONE)


@on_virtual_time
async def test_members_outlive_a_restart() -> None:
    tree = MemoryTree()
    async with coordinated(tree=tree) as broker:
        member = await member_of(broker)
        other = await broker.ask(ListGroupsRequest(), ListGroupsResponse)
        assert [(each.group_id, each.group_state) for each in other.groups] == [(GROUP, "Stable")]
    async with coordinated(disk=broker.disk, tree=tree) as broker:
        again = Member(broker)
        again.id, again.generation = member.id, member.generation
        assert await again.heartbeat() is NONE
        assert (await again.sync()).assignment == b"all"


@on_virtual_time
async def test_a_full_disk_refuses_commits_and_joins_go_on_when_there_is_room() -> None:
    async with coordinated() as broker:
        assert await commit(broker, 1) is NONE
        broker.disk.fill_up()
        assert await commit(broker, 2) is ErrorCode.NOT_COORDINATOR
        assert await committed(broker) == (1, NONE)
        member = Member(broker)
        await member.join()
        assert (await member.sync(all=b"all")).error_code == ErrorCode.NOT_COORDINATOR
        broker.disk.make_room()
        assert await commit(broker, 3, topic="unheard") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        await member.join()
        assert (await member.sync(all=b"all")).assignment == b"all"


@on_virtual_time
async def test_whoever_waits_is_answered_when_the_broker_stops() -> None:
    async with coordinated() as broker:
        await member_of(broker)
        waiting = Member(broker)
        joining = asyncio.ensure_future(waiting.join())
        await asyncio.sleep(0.1)
    assert (await joining).error_code == ErrorCode.NOT_COORDINATOR


@on_virtual_time
async def test_groups_without_a_name_are_refused() -> None:
    async with coordinated() as broker:
        join = join_request()
        join.group_id = ""
        assert isinstance(join, JoinGroupRequest)
        answer = await broker.ask(join, JoinGroupResponse, 5)
        assert answer.error_code == ErrorCode.INVALID_GROUP_ID
        leave = LeaveGroupRequest(group_id="", member_id="x")
        left = await broker.ask(leave, LeaveGroupResponse, 2)
        assert left.error_code == ErrorCode.INVALID_GROUP_ID


@on_virtual_time
async def test_since_version_5_a_sync_names_the_protocol() -> None:
    async with coordinated() as broker:
        request = SyncGroupRequest(group_id=GROUP, generation_id=1, member_id="x", assignments=[])
        answer = await broker.ask(request, SyncGroupResponse, 5)
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
