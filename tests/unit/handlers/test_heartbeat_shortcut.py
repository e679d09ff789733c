"""A heartbeat that is the one before it again takes a shortcut, and nobody can tell."""

from __future__ import annotations

import asyncio

import pytest

from ottla.handlers.heartbeat_shortcut import HeartbeatShortcut
from ottla.network.connection import Connection
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.group_client import GROUP, coordinated, member_of
from tests.unit.handlers.one_broker import OneBroker
from tests.virtual_time import on_virtual_time

NONE = ErrorCode.NONE


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    seen: list[bool] = []
    serve = HeartbeatShortcut.serve

    def noting(self: HeartbeatShortcut, connection: Connection, start: int, end: int) -> bool:
        seen.append(serve(self, connection, start, end))
        return seen[-1]

    monkeypatch.setattr(HeartbeatShortcut, "serve", noting)
    return seen


async def beat(broker: OneBroker, member_id: str, generation: int, version: int = 4) -> ErrorCode:
    request = HeartbeatRequest(group_id=GROUP, generation_id=generation, member_id=member_id)
    answer = await broker.ask(request, HeartbeatResponse, version)
    return ErrorCode(answer.error_code)


@pytest.mark.parametrize("version", range(5))
@on_virtual_time
async def test_the_second_of_the_same_takes_it_in_every_version(
    version: int, taken: list[bool]
) -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        for _ in range(3):
            assert await beat(broker, member.id, member.generation, version) is NONE
        assert taken == [True, True]
        assert broker.client.raw[-1] == broker.client.raw[-3]
        assert broker.services.requests.by_version[12, version] == 3


@on_virtual_time
async def test_another_member_generation_or_version_goes_the_long_way(taken: list[bool]) -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        assert await beat(broker, member.id, member.generation) is NONE
        assert await beat(broker, member.id, member.generation, version=3) is NONE
        other = member.id[:-1] + "?"
        assert await beat(broker, other, member.generation) is ErrorCode.UNKNOWN_MEMBER_ID
        assert await beat(broker, member.id, 7) is ErrorCode.ILLEGAL_GENERATION
        assert not any(taken)


@on_virtual_time
async def test_whoever_left_is_told_so_and_a_session_is_renewed_by_it(taken: list[bool]) -> None:
    async with coordinated() as broker:
        member = await member_of(broker)  # with a session of ten seconds
        for _ in range(5):
            assert await beat(broker, member.id, member.generation) is NONE
            await asyncio.sleep(8)  # of virtual time
        await member.leave()
        refused = await beat(broker, member.id, member.generation)
        assert refused is ErrorCode.UNKNOWN_MEMBER_ID
        assert taken[-1]
