"""A produce request that was appended, and waits to be as safe as the producer asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.protocol.errors import ErrorCode
from ottla.replication.partition import Partition
from ottla.storage.append_group import Appended, AppendGroup
from ottla.storage.log import Log

_NOT_WRITTEN = "the disk is full or has failed: nothing of it was written"


class Purgatory(Protocol):
    """Where it waits, if it must."""

    def park(
        self, operation: DelayedProduce, *, watch: list[Partition], timeout_ms: int
    ) -> bool: ...


class PartitionResult:
    """What becomes of one partition's records; refused at once, or appended and not yet safe."""

    __slots__ = (
        "base_offset", "error", "error_message", "group", "index", "log_append_time",
        "log_start_offset", "partition", "record_errors", "required_offset", "topic",
    )  # fmt: skip

    def __init__(
        self, topic: str, index: int, error: ErrorCode = ErrorCode.NONE, message: str | None = None
    ) -> None:
        self.topic = topic
        self.index = index
        self.partition: Partition | None = None  # while its answer is open
        self.group: AppendGroup | None = None
        self.required_offset = 0
        self.error: ErrorCode = error
        self.error_message = message
        self.base_offset = -1
        self.log_append_time = -1
        self.log_start_offset = -1
        self.record_errors: list[tuple[int, str]] = []  # by their place in the batch

    def appended(self, partition: Partition, appended: Appended) -> None:
        self.partition = partition
        self.group = appended.group
        self.base_offset = appended.first_offset
        self.required_offset = appended.last_offset + 1
        self.log_append_time = appended.log_append_time
        self.log_start_offset = partition.local_log().log_start_offset

    def refuse(self, error: ErrorCode, message: str | None = None) -> None:
        self.partition = None
        self.error = error
        self.error_message = message
        self.base_offset = self.log_append_time = self.log_start_offset = -1

    def fail(self, error: ErrorCode) -> None:
        """It is in the log, but not safe; where it is stays in the answer, as in Kafka."""
        self.partition = None
        self.error = error


class DelayedProduce:
    """Answers once: when every partition is safe or lost, or when the time is over."""

    __slots__ = ("_acks", "_reply", "completed", "results")

    def __init__(
        self,
        results: list[PartitionResult],
        *,
        acks: int,
        reply: Callable[[list[PartitionResult]], None],
    ) -> None:
        self.results = results
        self.completed = False
        self._acks = acks
        self._reply = reply

    def written(self, purgatory: Purgatory, *, timeout_ms: int) -> None:
        """The tick's writes are done: answer, or wait for the other replicas."""
        for result in self.results:
            if result.group is not None and result.group.error is not None:
                result.refuse(ErrorCode.KAFKA_STORAGE_ERROR, _NOT_WRITTEN)
        if not self.try_complete():
            watch = [each.partition for each in self.results if each.partition is not None]
            purgatory.park(self, watch=watch, timeout_ms=timeout_ms)

    def try_complete(self) -> bool:
        if not self.completed and not any(self._is_open(result) for result in self.results):
            self._complete()
        return self.completed

    def _is_open(self, result: PartitionResult) -> bool:
        partition = result.partition
        if partition is None:
            return False
        if partition.log is None:
            result.fail(ErrorCode.KAFKA_STORAGE_ERROR)
        elif not partition.is_leader:
            result.fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif self._is_safe(partition, partition.log, result.required_offset):
            result.partition = None
            if self._acks == -1 and partition.is_under_min_insync:
                result.fail(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return result.partition is not None

    def _is_safe(self, partition: Partition, log: Log, required_offset: int) -> bool:
        if self._acks == -1:
            return log.high_watermark >= required_offset
        return not partition.waits_for_flush(required_offset)

    def expire(self) -> None:
        for result in self.results:
            if self._is_open(result):
                result.fail(ErrorCode.REQUEST_TIMED_OUT)
        self._complete()

    def _complete(self) -> None:
        if not self.completed:
            self.completed = True
            self._reply(self.results)
