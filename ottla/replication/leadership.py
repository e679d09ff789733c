"""What the controller decides of a partition, carried out on this broker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode
from ottla.protocol.primitives import ZERO_UUID
from ottla.replication.partition import Partition
from ottla.replication.replicas import Replicas
from ottla.storage.directory import LogDirectory
from ottla.storage.files import DiskFailed
from ottla.storage.log import Log
from ottla.storage.opening import Opening, WantedLog

_logger = logging.getLogger(__name__)
NO_EPOCH = -1
EPOCH_DURING_DELETE = -2


class PartitionState(NamedTuple):
    """One partition of a LeaderAndIsr request."""

    topic: str
    topic_id: bytes
    partition_index: int
    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    partition_epoch: int
    is_new: bool


class Refusal(NamedTuple):
    """A log that there was no room for; it will be tried again."""

    wanted: WantedLog
    reason: str


class Leadership:
    """Makes this broker leader or follower of partitions, or lets them go.

    A request of the controller takes its `turn`, has `open_logs` find or make the logs in a file
    thread, then calls `become` for each of its partitions.
    """

    def __init__(
        self,
        replicas: Replicas,
        *,
        min_insync_of: Callable[[str], int],
        new_tag: Callable[[], str],
    ) -> None:
        self._replicas = replicas
        self._min_insync_of = min_insync_of
        self._new_tag = new_tag  # 32 hexadecimal digits, for the name of a deleted folder
        # A request waits for the file threads half-way: the next must not find it there.
        self.turn = asyncio.Lock()
        self.refused: dict[tuple[str, int], Refusal] = {}
        self.was_refused = asyncio.Event()
        self._renamed: dict[LogDirectory, None] = {}  # in these, and it may not last yet

    async def open_logs(self, states: Iterable[PartitionState], *, now_ms: int) -> None:
        """Whatever `become` will need. Those that cannot be opened are told of here, once."""
        wanted = []
        for state in states:
            name = (state.topic, state.partition_index)
            if name not in self._replicas.partitions and self._refusal(state, None) is None:
                topic_id = None if state.topic_id == ZERO_UUID else state.topic_id
                wanted.append(WantedLog(name, topic_id, state.is_new))
        await self._open_logs(wanted, now_ms=now_ms)

    async def open_refused(self, *, now_ms: int) -> bool:
        """Try those again that had no room; whether any has got it."""
        before = dict(self.refused)
        first = next(iter(before.values()), None)
        if first is not None:
            await self._open_logs([first.wanted], now_ms=now_ms)
            if first.wanted.partition not in self.refused:  # so the others may as well
                await self._open_logs([each.wanted for each in before.values()], now_ms=now_ms)
        return len(self.refused) < len(before)

    async def _open_logs(self, wanted: list[WantedLog], *, now_ms: int) -> None:
        opening = Opening(self._replicas.directories, wanted, now_ms=now_ms)
        if not opening.is_empty:
            await self._replicas.hop.wait(opening.run)
        opening.note()
        for each in wanted:
            error = opening.failures.get(each.partition)
            if isinstance(error, OSError):
                self._refuse(each, error)
                continue
            self.refused.pop(each.partition, None)
            if error is not None:
                _logger.error("%s-%d cannot be opened: %s", *each.partition, error)
        for error in dict.fromkeys(opening.failures.values()):
            if isinstance(error, DiskFailed):
                self._replicas.disk_failed(error)

    def _refuse(self, wanted: WantedLog, error: OSError) -> None:
        if wanted.partition not in self.refused:
            _logger.error("%s-%d cannot be opened, trying again: %s", *wanted.partition, error)
        self.refused[wanted.partition] = Refusal(wanted, f"{error.filename}: {error.strerror}")
        self.was_refused.set()

    def _refusal(self, state: PartitionState, partition: Partition | None) -> ErrorCode | None:
        if partition is not None:
            known_id = partition.topic_id
            if ZERO_UUID not in (known_id, state.topic_id) and known_id != state.topic_id:
                return ErrorCode.INCONSISTENT_TOPIC_ID
            if partition.log is None:
                return ErrorCode.KAFKA_STORAGE_ERROR
            if state.leader_epoch <= partition.leader_epoch:
                return ErrorCode.STALE_CONTROLLER_EPOCH
        if self._replicas.broker_id not in state.replicas:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return None

    def become(self, state: PartitionState) -> ErrorCode:
        partition = self._replicas.partitions.get((state.topic, state.partition_index))
        refusal = self._refusal(state, partition)
        if refusal is not None:
            return refusal
        if partition is None:
            log = self._log(state)
            if log is None:
                return ErrorCode.KAFKA_STORAGE_ERROR
            partition = self._hold(state, log)
        self._set(partition, state)
        return ErrorCode.NONE

    def _hold(self, state: PartitionState, log: Log) -> Partition:
        replicas = self._replicas
        partition = Partition(
            state.topic,
            state.partition_index,
            topic_id=state.topic_id,
            broker_id=replicas.broker_id,
            log=log,
            tick=replicas.tick,
            hop=replicas.hop,
            watch=replicas,
        )
        partition.min_insync = self._min_insync_of(state.topic)
        replicas.partitions[state.topic, state.partition_index] = partition
        return partition

    def _log(self, state: PartitionState) -> Log | None:
        name = (state.topic, state.partition_index)
        directory = self._replicas.directories.find(name)
        log = directory.logs.get(name) if directory is not None else None
        if log is not None and directory is not None:
            config = directory.config_of(state.topic)
            if log.config != config:  # it has changed while the file thread was at work
                log.configure(config)
        return log

    def _set(self, partition: Partition, state: PartitionState) -> None:
        replicas = self._replicas
        was_leader = partition.is_leader
        if was_leader and state.leader == replicas.broker_id:
            replicas.isr_shrinks += len(state.isr) < len(partition.isr)
            replicas.isr_expands += len(state.isr) > len(partition.isr)
        partition.leader = state.leader
        partition.leader_epoch = state.leader_epoch
        partition.controller_epoch = state.controller_epoch
        partition.partition_epoch = state.partition_epoch
        partition.isr = state.isr
        partition.replicas = state.replicas
        partition.is_leader = state.leader == replicas.broker_id
        partition.follower_ends.clear()
        partition.reconsider()
        if partition.is_leader:
            log = partition.local_log()
            log.start_epoch(state.leader_epoch)
            partition.advance()
        else:
            partition.verifications.clear()  # another leader may write markers
        if partition.is_leader or was_leader:
            replicas.recheck(partition)

    def stop(self, topic: str, index: int, *, leader_epoch: int, deletes: bool) -> ErrorCode:
        """Let go of a partition; with `deletes` for good, but see `make_stops_last`."""
        replicas = self._replicas
        partition = replicas.partitions.get((topic, index))
        if partition is not None:
            if partition.log is None and not deletes:
                return ErrorCode.KAFKA_STORAGE_ERROR
            if 0 <= leader_epoch < partition.leader_epoch:
                return ErrorCode.FENCED_LEADER_EPOCH
            partition.is_leader = False
            del replicas.partitions[topic, index]
        code = self._delete(topic, index) if deletes else ErrorCode.NONE
        if partition is not None:
            replicas.recheck(partition)  # it is let go, whatever became of its files
        return code

    def _delete(self, topic: str, index: int) -> ErrorCode:
        self.refused.pop((topic, index), None)
        directory = self._replicas.directories.find((topic, index))
        try:
            if directory is not None:
                directory.take_away((topic, index), tag=self._new_tag())
                self._renamed[directory] = None
        except DiskFailed as error:
            self._replicas.disk_failed(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        except OSError as error:
            _logger.error("%s-%d cannot be deleted: %s", topic, index, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE

    async def make_stops_last(self) -> bool:
        """One sync for all that were deleted before this; False if a disk failed at it."""
        renamed, self._renamed = self._renamed, {}
        succeeded = True
        for directory in renamed:
            try:
                await self._replicas.hop.wait(directory.sync)
            except DiskFailed as error:
                self._replicas.disk_failed(error)
                succeeded = False
        return succeeded
