"""Groups when their coordinator is killed: whoever was answered finds everything as it was."""

from __future__ import annotations

import asyncio

import pytest

from ottla.network.client import BrokerClient
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.apis.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from ottla.protocol.apis.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.conversation import create_topic
from tests.simulation.broker.machines import run_on_a_broker

PROPERTIES = {
    "offsets_topic_replication_factor": "1",
    "offsets_topic_num_partitions": "3",
    "group_initial_rebalance_delay_ms": "0",
}
COMMITTERS, SEEDS = 5, 20


async def find(client: BrokerClient, group: str) -> None:
    request = FindCoordinatorRequest(key=group)
    for _ in range(1000):
        answer = await client.request(request, version=3)
        assert isinstance(answer, FindCoordinatorResponse)
        if answer.error_code == ErrorCode.NONE:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"nobody coordinates {group}")


async def commit(client: BrokerClient, group: str, offset: int) -> ErrorCode:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata=""
    )
    topics = [OffsetCommitRequestTopic(name="orders", partitions=[partition])]
    answer = await client.request(OffsetCommitRequest(group_id=group, topics=topics))
    assert isinstance(answer, OffsetCommitResponse)
    return ErrorCode(answer.topics[0].partitions[0].error_code)


async def committed(client: BrokerClient, group: str) -> int:
    request = OffsetFetchRequest(group_id=group, topics=None)
    for _ in range(1000):
        answer = await client.request(request, version=7)
        assert isinstance(answer, OffsetFetchResponse)
        if answer.error_code == ErrorCode.NONE:
            return answer.topics[0].partitions[0].committed_offset if answer.topics else -1
        assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await asyncio.sleep(0.01)
    raise AssertionError(f"{group} is not loaded")


async def go_on_committing(machine: SimulatedMachine, group: str, told: dict[str, int]) -> None:
    """Until the broker dies; `told` is the last that was acknowledged."""
    client = await machine.connect()
    await find(client, group)
    for offset in range(1_000_000):
        try:
            error = await commit(client, group, offset)
        except OSError:
            return
        if error is ErrorCode.NONE:
            told[group] = offset


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_acknowledged_offset_is_lost_by_a_kill(seed: int) -> None:
    async def test(machine: SimulatedMachine) -> None:
        await create_topic(await machine.connect(), "orders")
        told: dict[str, int] = {}
        groups = [f"group-{number}" for number in range(COMMITTERS)]
        committers = [
            asyncio.ensure_future(go_on_committing(machine, group, told)) for group in groups
        ]
        await asyncio.sleep(1 + seed / 10)
        await machine.kill()
        await asyncio.gather(*committers)
        assert len(told) == COMMITTERS
        await machine.start()
        client = await machine.connect()
        for group in groups:
            await find(client, group)
            # What was on its way may be there, too; nothing later was sent.
            assert await committed(client, group) in (told[group], told[group] + 1)

    run_on_a_broker(test, seed=seed, latency_ms=(1, 20), properties=PROPERTIES)


async def join(client: BrokerClient, group: str) -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=60_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    answer = await client.request(request, version=3)
    assert isinstance(answer, JoinGroupResponse)
    return answer


async def sync(client: BrokerClient, group: str, member_id: str, assignment: bytes) -> bytes:
    request = SyncGroupRequest(
        group_id=group,
        generation_id=1,
        member_id=member_id,
        assignments=[SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)],
    )
    answer = await client.request(request, version=3)
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.NONE
    return bytes(answer.assignment)


async def heartbeat(client: BrokerClient, group: str, member_id: str) -> ErrorCode:
    request = HeartbeatRequest(group_id=group, generation_id=1, member_id=member_id)
    answer = await client.request(request)
    assert isinstance(answer, HeartbeatResponse)
    return ErrorCode(answer.error_code)


def test_a_member_goes_on_after_a_kill_and_is_evicted_when_it_does_not() -> None:
    async def test(machine: SimulatedMachine) -> None:
        client = await machine.connect()
        await find(client, "readers")
        member_id = (await join(client, "readers")).member_id
        assert await sync(client, "readers", member_id, b"all") == b"all"
        await machine.kill()
        await machine.start()
        client = await machine.connect()
        await find(client, "readers")
        assert await heartbeat(client, "readers", member_id) is ErrorCode.NONE
        assert await sync(client, "readers", member_id, b"other") == b"all"
        await asyncio.sleep(31)
        assert await heartbeat(client, "readers", member_id) is ErrorCode.UNKNOWN_MEMBER_ID

    run_on_a_broker(test, seed=1, properties=PROPERTIES)
