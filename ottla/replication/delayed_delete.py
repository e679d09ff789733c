"""Records being deleted up to an offset: done once every live replica has moved its start."""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import INTERNAL_TOPICS
from ottla.replication.partition import Partition
from ottla.replication.replicas import Replicas
from ottla.storage.cutting import advance_start

_HIGH_WATERMARK = -1


class DeletionResult:
    """What becomes of one partition; `partition` while it is open."""

    __slots__ = ("error", "index", "low_watermark", "partition", "required_offset", "topic")

    def __init__(self, topic: str, index: int) -> None:
        self.topic = topic
        self.index = index
        self.partition: Partition | None = None
        self.required_offset = 0
        self.low_watermark = -1
        self.error: ErrorCode = ErrorCode.NONE

    @classmethod
    def start(cls, replicas: Replicas, topic: str, index: int, offset: int) -> DeletionResult:
        """Move the start of our own log; followers hear of it with their next fetch."""
        result = cls(topic, index)
        try:
            partition = replicas.get(topic, index)
            if topic in INTERNAL_TOPICS:
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is the brokers' own")
            log = partition.leading_log()
            if log.config.compacts and not log.config.deletes:
                detail = f"{partition} is compacted, its records are not deleted from the start"
                raise KafkaError(ErrorCode.POLICY_VIOLATION, detail)
            required = log.high_watermark if offset == _HIGH_WATERMARK else offset
            if not 0 <= required <= log.high_watermark:
                detail = f"{required} is not in 0 to {log.high_watermark}, which is committed"
                raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
            advance_start(log, required)
        except KafkaError as error:
            result.error = error.code
            return result
        result.partition = partition
        result.required_offset = required
        return result


class DelayedDelete:
    """Answers once: when all are done or lost, or when the time is over."""

    __slots__ = ("_reply", "completed", "results")

    def __init__(
        self, results: list[DeletionResult], reply: Callable[[list[DeletionResult]], None]
    ) -> None:
        self.results = results
        self.completed = False
        self._reply = reply

    def try_complete(self) -> bool:
        if not self.completed and not any(self._is_open(each) for each in self.results):
            self._complete()
        return self.completed

    def _is_open(self, result: DeletionResult) -> bool:
        partition = result.partition
        if partition is None:
            return False
        if not partition.is_leader or partition.log is None:
            result.partition = None
            has_failed = partition.log is None
            result.error = (
                ErrorCode.KAFKA_STORAGE_ERROR if has_failed else ErrorCode.NOT_LEADER_OR_FOLLOWER
            )
        elif (low_watermark := partition.low_watermark()) >= result.required_offset:
            result.partition = None
            result.low_watermark = low_watermark
        return result.partition is not None

    def expire(self) -> None:
        for result in self.results:
            if self._is_open(result):
                result.error = ErrorCode.REQUEST_TIMED_OUT
        self._complete()

    def _complete(self) -> None:
        if not self.completed:
            self.completed = True
            self._reply(self.results)
