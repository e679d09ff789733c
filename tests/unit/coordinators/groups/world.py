"""A group coordinator on virtual time, over logs in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ottla.coordinators.groups.answers import DeletedOffsets, OffsetToCommit, TopicPartition
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.coordinators.groups.requests import (
    Join,
    JoinAnswer,
    LeaveAnswer,
    Leaving,
    Sync,
    SyncAnswer,
)
from ottla.coordinators.groups.settings import OffsetSettings
from ottla.protocol.errors import ErrorCode
from ottla.timing.tick import Tick
from tests.unit.coordinators.coordinated_world import PARTITIONS, CoordinatedWorld
from tests.unit.coordinators.fake_log import FakeLog
from tests.unit.coordinators.groups.driver import RANGE, REBALANCE_MS, SESSION_MS, SETTINGS

HOUR_MS = 3_600_000
RETENTION_MS = 24 * HOUR_MS
OFFSETS = OffsetSettings(
    max_metadata_length=4096,
    load_buffer_bytes=5 * 1024 * 1024,
    retention_ms=RETENTION_MS,
    retention_check_interval_ms=600_000,
    commit_timeout_ms=5_000,
)
NONE = ErrorCode.NONE


class CountingRandomness:
    def __init__(self) -> None:
        self._count = 0

    def bytes(self, count: int) -> bytes:
        self._count += 1
        return self._count.to_bytes(count, "big")


class World(CoordinatedWorld[GroupCoordinator]):
    """Of groups."""

    def __init__(
        self,
        *,
        offsets: OffsetSettings = OFFSETS,
        logs: Sequence[FakeLog] | None = None,
        **groups: int,
    ) -> None:
        super().__init__(logs)
        loop = asyncio.get_running_loop()
        self.history = RebalanceHistory()
        self.coordinator = GroupCoordinator(
            SETTINGS._replace(**groups),
            offsets,
            open_log=self.logs.__getitem__,
            witness=self.history,
            timer=self.timer,
            tick=Tick(loop.call_soon),
            clock=self.clock,
            randomness=CountingRandomness(),
            call_soon=loop.call_soon,
        )

    async def start(self) -> World:
        self.coordinator.start(PARTITIONS)
        await self.reload()
        return self

    def ask_join(self, group_id: str, **changes: Any) -> list[JoinAnswer]:
        join = Join(
            member_id="",
            instance_id=None,
            client_id="client",
            client_host="/10.0.0.1",
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            protocol_type="consumer",
            protocols=RANGE,
        )._replace(**changes)
        answers: list[JoinAnswer] = []
        self.coordinator.join(group_id, join, answers.append)
        return answers

    def ask_sync(self, group_id: str, member_id: str, **changes: Any) -> list[SyncAnswer]:
        sync = Sync(member_id, None, 1, None, None, {})._replace(**changes)
        answers: list[SyncAnswer] = []
        self.coordinator.sync(group_id, sync, answers.append)
        return answers

    def ask_leave(self, group_id: str, *leaving: Leaving) -> list[LeaveAnswer]:
        answers: list[LeaveAnswer] = []
        self.coordinator.leave(group_id, leaving, answers.append)
        return answers

    def heartbeat(self, group_id: str, member_id: str, generation: int = 1) -> ErrorCode:
        answers: list[ErrorCode] = []
        self.coordinator.heartbeat(
            group_id,
            member_id=member_id,
            instance_id=None,
            generation=generation,
            to=answers.append,
        )
        [error] = answers
        return error

    def ask_commit(
        self, group_id: str, *offsets: OffsetToCommit, **who: Any
    ) -> list[dict[TopicPartition, ErrorCode]]:
        answers: list[dict[TopicPartition, ErrorCode]] = []
        self.coordinator.commit(group_id, offsets, answers.append, **who)
        return answers

    async def commit(
        self, group_id: str, topic: str, partition: int, offset: int, **who: Any
    ) -> ErrorCode:
        answers = self.ask_commit(group_id, OffsetToCommit(topic, partition, offset), **who)
        await self.settle()
        [answer] = answers
        return answer[topic, partition]

    def committed(self, group_id: str) -> dict[TopicPartition, int]:
        error, found = self.coordinator.fetch(group_id, None)
        assert error is NONE
        return {partition: fetched.offset for partition, fetched in found.items()}

    def ask_delete(self, *group_ids: str) -> list[dict[str, ErrorCode]]:
        answers: list[dict[str, ErrorCode]] = []
        self.coordinator.delete_groups(group_ids, answers.append)
        return answers

    async def delete_groups(self, *group_ids: str) -> dict[str, ErrorCode]:
        answers = self.ask_delete(*group_ids)
        await self.settle()
        [answer] = answers
        return answer

    async def delete_offsets(self, group_id: str, *partitions: TopicPartition) -> DeletedOffsets:
        answers: list[DeletedOffsets] = []
        self.coordinator.delete_offsets(group_id, partitions, answers.append)
        await self.settle()
        [answer] = answers
        return answer

    async def formed(self, group_id: str, **changes: Any) -> str:
        """A stable group of one member: its id."""
        answers = self.ask_join(group_id, **changes)
        await self.wait(SETTINGS.initial_rebalance_delay_ms)
        member_id = answers[0].member_id
        synced = self.ask_sync(group_id, member_id, assignments={member_id: b"all"})
        await self.settle()
        assert synced[0].error is NONE
        return member_id

    def listed(self) -> dict[str, str]:
        """The state of every group."""
        return {group.group_id: group.state for group in self.coordinator.list_groups()[1]}


def keys(records: Sequence[Any]) -> list[tuple[bytes, bool]]:
    """Which keys were written, and whether as tombstones."""
    return [(record.key, record.value is None) for record in records]
