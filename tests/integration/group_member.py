"""A member of a group over a socket of its own, for tests with very many of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypeVar

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
from ottla.protocol.apis.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.schema import Message

M = TypeVar("M", bound=Message)
SESSION_MS = 300_000


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, bootstrap: str) -> Connection:
        host, _, port = bootstrap.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self, request: Message, version: int, answer: type[M]) -> M:
        self._writer.write(encode_request(request, version, correlation_id=1, client_id="scale"))
        size = int.from_bytes(await self._reader.readexactly(4), "big")
        frame = await self._reader.readexactly(size)
        body = decode_response(frame, api_key=request.api_key, version=version).body
        assert isinstance(body, answer)
        return body

    def close(self) -> None:
        self._writer.close()


@dataclass(slots=True)
class Crowd:
    """What the members of one group wait for: a generation with all of them."""

    group: str
    size: int
    whole: int = -1  # the generation


@dataclass(slots=True)
class Member:
    crowd: Crowd
    connection: Connection
    id: str = ""
    generation: int = -1
    assignment: bytes = b""

    async def settle(self) -> None:
        """Joins, as often as it is told to, until it has its part in the whole group."""
        while self.generation != self.crowd.whole or not self.assignment:
            if await self._join_and_sync():
                await self._stay()

    async def _stay(self) -> None:
        while self.generation != self.crowd.whole:
            if await self.heartbeat() is not ErrorCode.NONE:
                return

    async def _join_and_sync(self) -> bool:
        joined = await self._join()
        self.generation, self.assignment = joined.generation_id, b""
        if len(joined.members) == self.crowd.size:  # only the leader hears of them
            self.crowd.whole = joined.generation_id
        # Each is given its own id: so it can be told that nobody has another's part.
        parts = [
            SyncGroupRequestAssignment(member_id=each.member_id, assignment=each.member_id.encode())
            for each in joined.members
        ]
        request = SyncGroupRequest(
            group_id=self.crowd.group,
            generation_id=self.generation,
            member_id=self.id,
            assignments=parts,
        )
        synced = await self.connection.ask(request, 3, SyncGroupResponse)
        assert synced.error_code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
        self.assignment = synced.assignment
        return synced.error_code == ErrorCode.NONE

    async def _join(self) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=self.crowd.group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=self.id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        answer = await self.connection.ask(request, 5, JoinGroupResponse)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            request.member_id = self.id = answer.member_id
            answer = await self.connection.ask(request, 5, JoinGroupResponse)
        assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code).name
        return answer

    async def heartbeat(self) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=self.crowd.group, generation_id=self.generation, member_id=self.id
        )
        answer = await self.connection.ask(request, 3, HeartbeatResponse)
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
        return ErrorCode(answer.error_code)

    async def commit(self, topic: str, index: int, offset: int) -> None:
        row = OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=self.id
        )
        request = OffsetCommitRequest(
            group_id=self.crowd.group,
            generation_id_or_member_epoch=self.generation,
            member_id=self.id,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=[row])],
        )
        answer = await self.connection.ask(request, 8, OffsetCommitResponse)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE

    async def leave(self) -> None:
        identity = MemberIdentity(member_id=self.id)
        request = LeaveGroupRequest(group_id=self.crowd.group, members=[identity])
        answer = await self.connection.ask(request, 4, LeaveGroupResponse)
        assert answer.members[0].error_code == ErrorCode.NONE
