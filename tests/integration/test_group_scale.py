"""Very many groups, and a very large one: nobody is lost, and nobody has another's part."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator, Sequence

import pytest

from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ottla.protocol.errors import ErrorCode
from ottla.testing.broker import Broker
from tests.integration.group_member import Connection, Crowd, Member
from tests.simulation.seeds import repetitions

GROUPS = repetitions(50, soak=1_000)
CROWD = repetitions(60, soak=500)
TOPIC = "wide"
_LOAD_IN_PROGRESS = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with Broker({"group.initial.rebalance.delay.ms": 0}) as broker:
        broker.create_topic(TOPIC, partitions=CROWD)
        yield broker


async def coordinated(broker: Broker, groups: Sequence[str]) -> Connection:
    """The log of offsets is there, and each group's part of it is loaded."""
    connection = await Connection.open(broker.bootstrap)
    for group in groups:
        find = FindCoordinatorRequest(key=group)
        while (await connection.ask(find, 2, FindCoordinatorResponse)).error_code:
            pass
        fetch = OffsetFetchRequest(group_id=group, topics=[])
        while error := (await connection.ask(fetch, 5, OffsetFetchResponse)).error_code:
            assert error in _LOAD_IN_PROGRESS
    return connection


async def members_of(broker: Broker, group: str, size: int) -> list[Member]:
    crowd = Crowd(group, size)
    connections = [await Connection.open(broker.bootstrap) for _ in range(size)]
    return [Member(crowd, connection) for connection in connections]


async def settle(members: Sequence[Member]) -> None:
    """Until all are in one generation; each has what its leader gave it, and nobody else."""
    await asyncio.gather(*(member.settle() for member in members))
    for member in members:
        assert member.generation == member.crowd.whole
        assert member.assignment.decode() == member.id
    assert len(dict.fromkeys(member.id for member in members)) == len(members)


async def commit_all(members: Sequence[Member]) -> None:
    await asyncio.gather(
        *(member.commit(TOPIC, index, 1_000 + index) for index, member in enumerate(members))
    )


async def expect_committed(connection: Connection, members: Sequence[Member]) -> None:
    fetch = OffsetFetchRequest(group_id=members[0].crowd.group, topics=None)
    answer = await connection.ask(fetch, 5, OffsetFetchResponse)
    found = {row.partition_index: row for topic in answer.topics for row in topic.partitions}
    assert len(found) == len(members)
    for index, member in enumerate(members):
        assert (found[index].committed_offset, found[index].metadata) == (1_000 + index, member.id)


async def expect_quiet(members: Sequence[Member]) -> None:
    """Everybody is still in the generation that they formed."""
    beats = await asyncio.gather(*(member.heartbeat() for member in members))
    assert not any(beats)


def close(connection: Connection, members: Sequence[Member]) -> None:
    for each in (connection, *(member.connection for member in members)):
        each.close()


def test_many_groups_form_at_once_and_keep_their_offsets(broker: Broker) -> None:
    asyncio.run(many_groups(broker))


def test_a_large_group_forms_and_goes_on_without_one_that_leaves(broker: Broker) -> None:
    asyncio.run(large_group(broker))


async def many_groups(broker: Broker) -> None:
    names = [f"group-{number}" for number in range(GROUPS)]
    connection = await coordinated(broker, names)
    groups = [await members_of(broker, name, 3) for name in names]
    await asyncio.gather(*map(settle, groups))
    await asyncio.gather(*map(commit_all, groups))
    for members in groups:
        await expect_committed(connection, members)
    await asyncio.gather(*map(expect_quiet, groups))
    listed = await connection.ask(
        ListGroupsRequest(states_filter=["Stable"]), 4, ListGroupsResponse
    )
    assert sorted(each.group_id for each in listed.groups) == sorted(names)
    close(connection, [member for members in groups for member in members])


async def large_group(broker: Broker) -> None:
    connection = await coordinated(broker, ["crowd"])
    members = await members_of(broker, "crowd", CROWD)
    await settle(members)
    await commit_all(members)
    await expect_committed(connection, members)
    await expect_quiet(members)
    first, members[0].crowd.size = members[0].generation, CROWD - 1
    leaving = members.pop()
    await leaving.leave()
    for member in members:
        assert await member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
        member.generation = -1
    await settle(members)
    assert members[0].generation > first
    await expect_quiet(members)
    close(connection, [*members, leaving])
