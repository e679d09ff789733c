"""The partitions of the offsets log that this broker leads: elected, loaded, resigned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.java_hash import partition_of
from ottla.coordinators.groups.loading import Loads
from ottla.coordinators.groups.partition import GroupPartition, HostedGroup
from ottla.coordinators.log import CoordinatorLog
from ottla.coordinators.runtime import Runtime
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer


class GroupPartitions:
    """Until `start` and after `shut_down` there is no coordinator here."""

    def __init__(
        self,
        *,
        open_log: Callable[[int], CoordinatorLog],
        new_group: Callable[[str], Group],
        loads: Loads,
        timer: Timer,
        tick: Tick,
        clock: Clock,
        timeout_ms: int,
    ) -> None:
        self.count = 0
        self.is_active = False
        self._open_log = open_log
        self._new_group = new_group
        self._loads = loads
        self._timer = timer
        self._tick = tick
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._led: dict[int, GroupPartition] = {}
        self._epochs: dict[int, int] = {}  # the newest heard of, led here or not

    def __iter__(self) -> Iterator[GroupPartition]:
        return iter(self._led.values())

    @property
    def is_loading(self) -> bool:
        return any(partition.is_loading for partition in self._led.values())

    def find(self, group_id: str) -> GroupPartition | ErrorCode:
        """The group's partition, or why it cannot be asked here now."""
        if not self.is_active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition = self._led.get(partition_of(group_id, self.count))
        if partition is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if partition.is_loading else partition

    def transaction_ended(self, number: int, producer_id: int, *, is_commit: bool) -> None:
        partition = self._led.get(number)
        if partition is not None:
            partition.transaction_ended(producer_id, is_commit=is_commit)

    def hosted(self) -> Iterator[tuple[GroupPartition, HostedGroup]]:
        """Every group that is loaded; they may come and go meanwhile."""
        for partition in list(self._led.values()):
            for hosted in list(partition.groups.values()):
                is_there = partition.groups.get(hosted.group.id) is hosted
                if is_there and not partition.is_loading and not partition.is_closed:
                    yield partition, hosted

    def elected(self, number: int, leader_epoch: int) -> None:
        if not self._is_news(number, leader_epoch):
            return
        self._close(number)
        log = self._open_log(number)
        partition = self._led[number] = GroupPartition(
            number,
            Runtime(log, self._tick, self._clock, timeout_ms=self._timeout_ms),
            new_group=self._new_group,
            timer=self._timer,
            clock=self._clock,
        )
        self._loads.add(partition)

    def resigned(self, number: int, leader_epoch: int | None) -> None:
        if leader_epoch is None:
            # It was deleted, perhaps: were it created anew, its epochs would begin anew.
            self._epochs.pop(number, None)
            self._close(number)
        elif self._is_news(number, leader_epoch):
            self._close(number)

    def close(self) -> None:
        for number in list(self._led):
            self._close(number)

    def _is_news(self, number: int, leader_epoch: int) -> bool:
        if leader_epoch <= self._epochs.get(number, -1):
            return False
        self._epochs[number] = leader_epoch
        return True

    def _close(self, number: int) -> None:
        partition = self._led.pop(number, None)
        if partition is not None:
            partition.close()
