"""What the controller decides of a partition, carried out on this broker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode
from ottla.protocol.primitives import ZERO_UUID
from ottla.replication.partition import Partition
from ottla.replication.replicas import Replicas
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.log import Log

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


class Leadership:
    """Makes this broker leader or follower of partitions, or lets them go."""

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

    def become(self, state: PartitionState, *, now_ms: int) -> ErrorCode:
        replicas = self._replicas
        name = (state.topic, state.partition_index)
        partition = replicas.partitions.get(name)
        if partition is not None:
            known_id = partition.topic_id
            if ZERO_UUID not in (known_id, state.topic_id) and known_id != state.topic_id:
                return ErrorCode.INCONSISTENT_TOPIC_ID
            if partition.log is None:
                return ErrorCode.KAFKA_STORAGE_ERROR
            if state.leader_epoch <= partition.leader_epoch:
                return ErrorCode.STALE_CONTROLLER_EPOCH
        if replicas.broker_id not in state.replicas:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        try:
            if partition is None:
                partition = self._open(state, now_ms=now_ms)
            self._set(partition, state)
        except DiskFailed as error:
            replicas.disk_failed(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        except (OSError, CorruptLog) as error:
            _logger.error("%s-%d cannot be opened: %s", *name, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE

    def _open(self, state: PartitionState, *, now_ms: int) -> Partition:
        replicas = self._replicas
        partition = Partition(
            state.topic,
            state.partition_index,
            topic_id=state.topic_id,
            broker_id=replicas.broker_id,
            log=self._log(state, now_ms=now_ms),
            tick=replicas.tick,
            hop=replicas.hop,
            watch=replicas,
        )
        partition.min_insync = self._min_insync_of(state.topic)
        replicas.partitions[state.topic, state.partition_index] = partition
        return partition

    def _log(self, state: PartitionState, *, now_ms: int) -> Log:
        directories = self._replicas.directories
        name = (state.topic, state.partition_index)
        directory = directories.find(name)
        if directory is not None:
            return directory.log(name, now_ms=now_ms)
        if directories.offline and not state.is_new:
            # It may be in a directory that is offline: an empty one in its place would lose it.
            raise OSError("a log directory is offline")
        topic_id = None if state.topic_id == ZERO_UUID else state.topic_id
        return directories.create(name, topic_id=topic_id, now_ms=now_ms)

    def _set(self, partition: Partition, state: PartitionState) -> None:
        replicas = self._replicas
        was_leader = partition.is_leader
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
        if partition.is_leader or was_leader:
            replicas.recheck(partition)

    def stop(self, topic: str, index: int, *, leader_epoch: int, deletes: bool) -> ErrorCode:
        """Let go of a partition; with `deletes` its folder goes too, a little later."""
        replicas = self._replicas
        partition = replicas.partitions.get((topic, index))
        if partition is not None:
            if partition.log is None and not deletes:
                return ErrorCode.KAFKA_STORAGE_ERROR
            if 0 <= leader_epoch < partition.leader_epoch:
                return ErrorCode.FENCED_LEADER_EPOCH
            partition.is_leader = False
            del replicas.partitions[topic, index]
        try:
            if deletes:
                self._delete(topic, index)
        except DiskFailed as error:
            replicas.disk_failed(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        except OSError as error:
            _logger.error("%s-%d cannot be deleted: %s", topic, index, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        if partition is not None:
            replicas.recheck(partition)
        return ErrorCode.NONE

    def _delete(self, topic: str, index: int) -> None:
        directory = self._replicas.directories.find((topic, index))
        if directory is not None:
            directory.delete((topic, index), tag=self._new_tag())
