"""One partition of this broker: who leads it, how far it is committed, who may append.

Appends of one tick share a write. What depends on the write is settled in the same tick.
"""

from __future__ import annotations

import logging
from typing import Protocol

from ottla.network.connection import Connection
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import BATCH_OVERHEAD
from ottla.protocol.records.control import END_TRANSACTION_BYTES, ControlType
from ottla.replication.group_commit import GroupCommit
from ottla.replication.verification import Verifications
from ottla.storage.append_group import Appended, AppendGroup
from ottla.storage.config import FOREVER
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.hop import Hop
from ottla.storage.log import Log
from ottla.storage.long_way import needs_work
from ottla.timing.tick import Tick

_logger = logging.getLogger(__name__)


class Answering(Protocol):
    """Who made an answer before the write that it depends on."""

    def take_back(self, connection: Connection, place: int, correlation_id: int) -> None:
        """The write failed, and the answer has not left: it is at this place among the others."""


# Such an answer: what it depends on, who made it, and where it is. A tuple, because there is one
# for nearly every request.
Unsure = tuple[AppendGroup, Answering, Connection, int, int]


class Watch(Protocol):
    """What a partition tells of itself."""

    def appended(self, partition: Partition, *, records: int, size_bytes: int) -> None:
        """The log is longer now, and perhaps more of it is committed."""

    def disk_failed(self, error: DiskFailed) -> None: ...


class Partition:
    """A replica on this broker. Without a log its directory is offline."""

    __slots__ = (
        "_commit", "_counted_end", "_hop", "_is_queued", "_known_damage", "_tick", "_unwritten",
        "_watch", "answers_at_once", "broker_id", "controller_epoch", "follower_ends", "index",
        "is_leader", "isr", "leader", "leader_epoch", "log", "looks_at_records", "min_insync",
        "partition_epoch", "replicas", "topic", "topic_id", "unsure", "verifications",
    )  # fmt: skip

    def __init__(
        self,
        topic: str,
        index: int,
        *,
        topic_id: bytes,
        broker_id: int,
        log: Log | None,
        tick: Tick,
        hop: Hop,
        watch: Watch,
    ) -> None:
        self.topic = topic
        self.index = index
        self.topic_id = topic_id
        self.broker_id = broker_id
        self.log = log
        self.is_leader = False
        self.leader = -1
        self.leader_epoch = -1
        self.controller_epoch = -1
        self.partition_epoch = -1
        self.isr: tuple[int, ...] = ()
        self.replicas: tuple[int, ...] = ()
        self.follower_ends: dict[int, int] = {}
        self.min_insync = 1
        self.answers_at_once = False
        self.looks_at_records = False  # before it takes them
        self._tick = tick
        self._watch = watch
        self._is_queued = False
        self._unwritten = 0
        self._counted_end = log.next_offset if log is not None else 0
        self._commit: GroupCommit | None = None
        self._hop = hop
        self._known_damage = ""
        if log is not None:
            self.switch_to(log)
        self.unsure: list[Unsure] = []
        self.verifications = Verifications()

    def reconsider(self) -> None:
        """After a change of the in-sync replicas or of the configuration."""
        flushes = self.log is not None and self.log.config.flush_messages != FOREVER
        # A write is all that it takes for a record to be committed.
        self.answers_at_once = len(self.isr) == 1 and not flushes
        self.looks_at_records = self.log is not None and not self.log.takes_as_sent

    def switch_to(self, log: Log) -> None:
        """The log is another from now on: a copy in another directory, with all that it had."""
        goal = self._commit.goal if self._commit is not None else 0
        self.log = log
        self._commit = GroupCommit(
            log, self._hop, on_flushed=self._flushed, on_failed=self._watch.disk_failed
        )
        self._commit.need(goal)

    def leading_log(self, *, leader_epoch: int = -1) -> Log:
        """The log, if this broker leads; `leader_epoch` is the one that the client believes in."""
        log = self.local_log()  # without one it leads nothing, but that is not the reason
        self.check_epoch(leader_epoch)
        if not self.is_leader:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{self} is led by {self.leader}")
        return log

    def disk_failed(self, error: DiskFailed) -> None:
        """Whoever found out tells; all partitions on that disk are offline then."""
        self._watch.disk_failed(error)

    def unreadable(self, error: CorruptLog | DiskFailed) -> KafkaError:
        """What a reader hears who met it. It is this partition's alone: the others are served."""
        if isinstance(error, DiskFailed):
            self.disk_failed(error)
            return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        if str(error) != self._known_damage:  # readers come back to it again and again
            self._known_damage = str(error)
            _logger.error("%s is corrupt: %s", self, error)
        return KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error))

    @property
    def is_under_min_insync(self) -> bool:
        """More than there are replicas cannot be required."""
        count = len(self.isr)
        return count < self.min_insync and count < len(self.replicas)

    def local_log(self) -> Log:
        if self.log is None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"the disk of {self} has failed")
        return self.log

    def check_epoch(self, leader_epoch: int) -> None:
        if leader_epoch in (-1, self.leader_epoch):
            return
        code = ErrorCode.FENCED_LEADER_EPOCH
        if leader_epoch > self.leader_epoch:
            code = ErrorCode.UNKNOWN_LEADER_EPOCH
        detail = f"{self} is in epoch {self.leader_epoch}, the request in {leader_epoch}"
        raise KafkaError(code, detail)

    def append(
        self, records: memoryview, *, acks: int, now_ms: int, from_client: bool = True
    ) -> Appended:
        """Queue what a producer sent; it is written before this tick ends.

        Whether its transaction was verified is for the caller to know.
        """
        log = self.log
        if not self.is_leader or log is None:
            log = self.leading_log()
        if acks == -1 and self.is_under_min_insync:
            raise self._too_few_in_sync()
        try:
            appended = log.append(
                records, leader_epoch=self.leader_epoch, now_ms=now_ms, from_client=from_client
            )
        except (OSError, DiskFailed) as error:
            raise self._storage_error(error) from error
        self._unwritten += len(records)
        if not self._is_queued:
            self._is_queued = True
            self._tick.write(self._write)
        return appended

    def needs_work(self, records: memoryview) -> bool:
        """Whether they should be prepared before they are appended."""
        return (
            self.looks_at_records and self.log is not None and needs_work(records, self.log.config)
        )

    def append_prepared(self, records: memoryview, *, acks: int, now_ms: int) -> Appended:
        """As `append`, of what `prepare` made of it."""
        log = self.check_taking(acks)
        try:
            appended = log.append_prepared(records, leader_epoch=self.leader_epoch, now_ms=now_ms)
        except (OSError, DiskFailed) as error:
            raise self._storage_error(error) from error
        self.write_later(len(records))
        return appended

    def check_taking(self, acks: int) -> Log:
        """The log, if a producer may append to it just now."""
        log = self.leading_log()
        if acks == -1 and self.is_under_min_insync:
            raise self._too_few_in_sync()
        return log

    def append_own(self, records: bytes, count: int, *, acks: int, now_ms: int) -> Appended:
        """As `append`, of what a coordinator of this broker made and the log `takes_own`."""
        log = self.log
        if not self.is_leader or log is None:
            log = self.leading_log()
        if acks == -1 and self.is_under_min_insync:
            raise self._too_few_in_sync()
        try:
            appended = log.append_own(records, count, leader_epoch=self.leader_epoch, now_ms=now_ms)
        except (OSError, DiskFailed) as error:
            raise self._storage_error(error) from error
        self._unwritten += BATCH_OVERHEAD + len(records)
        if not self._is_queued:
            self._is_queued = True
            self._tick.write(self._write)
        return appended

    def append_marker(
        self,
        control_type: ControlType,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        now_ms: int,
    ) -> Appended:
        """Queue the end of a transaction, for all in-sync replicas; written as `append` is."""
        log = self.leading_log()
        if self.is_under_min_insync:
            raise self._too_few_in_sync()
        try:
            appended = log.append_marker(
                control_type,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                coordinator_epoch=coordinator_epoch,
                leader_epoch=self.leader_epoch,
                now_ms=now_ms,
            )
        except (OSError, DiskFailed) as error:
            raise self._storage_error(error) from error
        self.verifications.end(producer_id)
        self.write_later(END_TRANSACTION_BYTES)
        return appended

    def is_in_transaction(self, producer_id: int, *, epoch: int) -> bool:
        """Whether there are batches of it since its last marker, so that more may follow."""
        state = self.log.producers.get(producer_id) if self.log is not None else None
        return state is not None and state.transaction_start >= 0 and state.epoch == epoch

    def _too_few_in_sync(self) -> KafkaError:
        detail = f"{self} has {len(self.isr)} in-sync replicas, {self.min_insync} are required"
        return KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, detail)

    def _storage_error(self, error: OSError | DiskFailed) -> KafkaError:
        if isinstance(error, DiskFailed):
            self._watch.disk_failed(error)
            return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        self.write_later(0)  # the disk is full; a group before this one may be lost by it
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self}: {error.strerror or error}")

    def write_later(self, size_bytes: int) -> None:
        """Something was queued in the log: write it at the end of this tick."""
        self._unwritten += size_bytes
        if not self._is_queued:
            self._is_queued = True
            self._tick.write(self._write)

    def _write(self) -> None:
        """The end of the tick: what was queued becomes part of the log, all of it or nothing."""
        log, size_bytes = self.log, self._unwritten
        self._is_queued = False
        self._unwritten = 0
        if log is None:
            self._take_back_all()  # another partition's write has found that the disk fails
            return
        try:
            log.commit()
        except OSError as error:
            size_bytes = 0
            _logger.error("%s: %s; the records were refused", self, error.strerror or error)
        except DiskFailed as error:
            size_bytes = 0
            self._watch.disk_failed(error)
        except Exception:
            # A bug of ours: nobody knows what the log holds now, so nobody may count on it.
            self.log, self.is_leader = None, False
            self._take_back_all()
            raise
        if self.unsure:
            unsure, self.unsure = self.unsure, []
            group = unsure[0][0]
            if group.error is not None or group is not unsure[-1][0]:  # nearly always there is one
                _take_back([each for each in unsure if each[0].error is not None])
        if self._commit is not None and not self.answers_at_once:
            self._commit.written()
        self.advance()
        records = log.next_offset - self._counted_end
        self._counted_end = log.next_offset
        self._watch.appended(self, records=records, size_bytes=size_bytes)

    def _take_back_all(self) -> None:
        unsure, self.unsure = self.unsure, []
        _take_back(unsure)

    def _flushed(self) -> None:
        self.advance()
        self._watch.appended(self, records=0, size_bytes=0)

    def waits_for_flush(self, required_offset: int) -> bool:
        return self._commit is not None and self._commit.waits(required_offset)

    def advance(self) -> bool:
        """Commit what every in-sync replica has; whether that moved the high watermark."""
        log = self.log
        # What too few replicas have is not shown to anybody: it may yet be lost (KIP-966).
        if log is None or (self.min_insync > 1 and self.is_under_min_insync):
            return False
        end = log.next_offset
        if len(self.isr) > 1:
            for replica in self.isr:
                if replica != self.broker_id:
                    end = min(end, self.follower_ends.get(replica, log.high_watermark))
        if self._commit is not None and self._commit.goal > log.recovery_point:
            end = min(end, log.recovery_point)
        if end <= log.high_watermark:
            return False
        log.advance_high_watermark(end)
        return True

    def low_watermark(self) -> int:
        """Where the log starts on every replica that is in sync; -1 while one is not heard of."""
        return self.local_log().log_start_offset if len(self.isr) == 1 else -1

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"


def _take_back(unsure: list[Unsure]) -> None:
    for _, answering, connection, place, correlation_id in unsure:
        answering.take_back(connection, place, correlation_id)
