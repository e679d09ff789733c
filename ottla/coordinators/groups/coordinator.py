"""The group coordinator of a broker: every group whose partition of the offsets log it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ottla.coordinators.groups.answers import (
    DeletedOffsets,
    DescribedGroup,
    FetchedOffset,
    ListedGroup,
    OffsetToCommit,
    TopicPartition,
)
from ottla.coordinators.groups.requests import (
    GroupSettings,
    Join,
    JoinAnswer,
    LeaveAnswer,
    Leaving,
    Sync,
    SyncAnswer,
)
from ottla.coordinators.log import CoordinatorLog
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer


class OffsetSettings(NamedTuple):
    max_metadata_length: int
    load_buffer_bytes: int
    retention_ms: int
    retention_check_interval_ms: int
    commit_timeout_ms: int


class Randomness(Protocol):
    def bytes(self, count: int) -> bytes: ...


class GroupCoordinator:
    """Answers go to `to`, at once where nothing has to be waited for."""

    def __init__(
        self,
        groups: GroupSettings,
        offsets: OffsetSettings,
        *,
        open_log: Callable[[int], CoordinatorLog],  # by the number of a partition that is led here
        timer: Timer,
        tick: Tick,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        raise NotImplementedError

    def start(self, partition_count: int) -> None:
        """From now on it answers. The count is that of __consumer_offsets, and never changes."""

    def shut_down(self) -> None:
        """Whoever waits, or asks from now on, hears COORDINATOR_NOT_AVAILABLE."""

    def partition_for(self, group_id: str) -> int:
        raise NotImplementedError

    def elected(self, partition: int, leader_epoch: int) -> None:
        """Loads the partition; an epoch that is not newer changes nothing."""

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """Unloads the partition. Without an epoch (StopReplica) in any case."""

    def join(self, group_id: str, join: Join, to: Callable[[JoinAnswer], None]) -> None: ...

    def sync(self, group_id: str, sync: Sync, to: Callable[[SyncAnswer], None]) -> None: ...

    def heartbeat(
        self,
        group_id: str,
        *,
        member_id: str,
        instance_id: str | None,
        generation: int,
        to: Callable[[ErrorCode], None],
    ) -> None: ...

    def leave(
        self, group_id: str, leaving: Sequence[Leaving], to: Callable[[LeaveAnswer], None]
    ) -> None: ...

    def commit(
        self,
        group_id: str,
        offsets: Sequence[OffsetToCommit],
        to: Callable[[dict[TopicPartition, ErrorCode]], None],
        *,
        member_id: str = "",
        instance_id: str | None = None,
        generation: int = -1,
        retention_ms: int = -1,
    ) -> None:
        """Whether the topics exist is the handler's business."""

    def fetch(
        self,
        group_id: str,
        partitions: Sequence[TopicPartition] | None,  # None: all
        *,
        require_stable: bool = False,
    ) -> tuple[ErrorCode, dict[TopicPartition, FetchedOffset]]:
        raise NotImplementedError

    def delete_offsets(
        self,
        group_id: str,
        partitions: Sequence[TopicPartition],
        to: Callable[[DeletedOffsets], None],
    ) -> None: ...

    def delete_groups(
        self, group_ids: Sequence[str], to: Callable[[dict[str, ErrorCode]], None]
    ) -> None: ...

    def describe(self, group_id: str) -> DescribedGroup:
        raise NotImplementedError

    def list_groups(
        self, states: Sequence[str] = (), types: Sequence[str] = ()
    ) -> tuple[ErrorCode, list[ListedGroup]]:
        raise NotImplementedError

    def topics_deleted(self, names: Sequence[str]) -> None:
        """Their offsets go, in every group."""

    def tend(self) -> None:
        """Expires offsets and groups; `start` has it called every so often."""
