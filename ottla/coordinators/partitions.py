"""The partitions of a coordinator's log that this broker leads: elected, loaded, resigned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from ottla.coordinators.groups.java_hash import partition_of
from ottla.coordinators.loading import Loadable, Loads
from ottla.coordinators.log import CoordinatorLog
from ottla.coordinators.runtime import Runtime
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick


class Led(Loadable, Protocol):
    """`is_loading` until its log is read; a new election is a new object."""

    def close(self) -> None:
        """Whoever waits hears that the coordinator is elsewhere."""
        ...


P = TypeVar("P", bound=Led)
H = TypeVar("H")


class Partitions(Generic[P, H]):
    """Each hosts what it coordinates, by name. Until `is_active` there is no coordinator here."""

    def __init__(
        self,
        *,
        open_log: Callable[[int], CoordinatorLog],
        new_partition: Callable[[int, int, Runtime], P],  # its number and leader epoch
        hosts: Callable[[P], Mapping[str, H]],
        loads: Loads,
        tick: Tick,
        clock: Clock,
        timeout_ms: int,
    ) -> None:
        self.count = 0
        self.is_active = False
        self._open_log = open_log
        self._new_partition = new_partition
        self._hosts = hosts
        self._loads = loads
        self._tick = tick
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._led: dict[int, P] = {}
        self._epochs: dict[int, int] = {}  # the newest heard of, led here or not

    def __iter__(self) -> Iterator[P]:
        return iter(self._led.values())

    @property
    def is_loading(self) -> bool:
        return any(partition.is_loading for partition in self._led.values())

    def find(self, name: str) -> P | ErrorCode:
        """The partition of a group or transactional id, or why it cannot be asked here now."""
        if not self.is_active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition = self._led.get(partition_of(name, self.count))
        if partition is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if partition.is_loading else partition

    def led(self, number: int) -> P | None:
        """Whether it is loaded or not."""
        return self._led.get(number)

    def hosted(self) -> Iterator[tuple[P, H]]:
        """Everything that is loaded; it may come and go meanwhile."""
        for partition in list(self._led.values()):
            hosts = self._hosts(partition)
            for name, hosted in list(hosts.items()):
                is_there = hosts.get(name) is hosted
                if is_there and not partition.is_loading and not partition.is_closed:
                    yield partition, hosted

    def elected(self, number: int, leader_epoch: int) -> None:
        if not self._is_news(number, leader_epoch):
            return
        self._close(number)
        log = self._open_log(number)
        runtime = Runtime(log, self._tick, self._clock, timeout_ms=self._timeout_ms)
        partition = self._led[number] = self._new_partition(number, leader_epoch, runtime)
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
