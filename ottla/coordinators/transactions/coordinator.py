"""The transaction coordinator of a broker: every transactional id whose partition it leads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ottla.coordinators.chore import Chore
from ottla.coordinators.groups.java_hash import partition_of
from ottla.coordinators.loading import Loads
from ottla.coordinators.log import CoordinatorLog
from ottla.coordinators.partitions import Partitions
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.slices import Slices
from ottla.coordinators.transactions.description import describe, listed
from ottla.coordinators.transactions.marker_port import MarkerPort
from ottla.coordinators.transactions.marker_sender import MarkerSender
from ottla.coordinators.transactions.partition import TransactionPartition
from ottla.coordinators.transactions.requests import (
    DescribedTransaction,
    InitAnswer,
    ListedTransactions,
    ProducerIdentity,
    TopicPartition,
)
from ottla.coordinators.transactions.settings import TransactionSettings
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer

_logger = logging.getLogger(__name__)

# Somebody who wants a producer id that was never used; an error if there is none to be had.
OnProducerId = Callable[[int | ErrorCode], None]
_E = ErrorCode


class _Init(NamedTuple):
    transactional_id: str
    timeout_ms: int
    expected: ProducerIdentity | None
    to: Callable[[InitAnswer], None]


class TransactionCoordinator:
    """Answers go to `to`, at once where nothing has to be waited for.

    A producer that was overtaken hears PRODUCER_FENCED; who does not know it yet is told otherwise
    by the handlers.
    """

    def __init__(
        self,
        settings: TransactionSettings,
        *,
        open_log: Callable[[int], CoordinatorLog],  # by the number of a partition that is led here
        new_producer_id: Callable[[OnProducerId], None],
        markers: MarkerPort,
        timer: Timer,
        tick: Tick,
        clock: Clock,
        call_soon: Callable[[Callable[[], None]], object],
    ) -> None:
        self.timed_out_count = 0  # transactions that were aborted for it
        self.expired_count = 0  # transactional ids
        self._settings = settings
        self._new_producer_id = new_producer_id
        self._sender = MarkerSender(markers, tick)
        self._timer = timer
        self._clock = clock
        self._slices = slices = Slices(timer, call_soon)
        self.loads = Loads(slices, timer, buffer_bytes=settings.load_buffer_bytes)
        self.partitions = Partitions[TransactionPartition, Transaction](
            open_log=open_log,
            new_partition=self._new_partition,
            hosts=lambda partition: partition.transactions,
            loads=self.loads,
            tick=tick,
            clock=clock,
            timeout_ms=settings.append_timeout_ms,
        )
        self._aborting = Chore(
            self._abort_overdue, slices, timer, interval_ms=settings.abort_timed_out_interval_ms
        )
        self._expiry = Chore(
            self._expire, slices, timer, interval_ms=settings.remove_expired_interval_ms
        )

    @property
    def unknown_destination_count(self) -> int:
        """Markers whose partitions have no leader, or failed: they are asked for again."""
        return sum(partition.lacking_count for partition in self.partitions)

    @property
    def append_retry_count(self) -> int:
        """Transactions that have all their markers, but that the log did not take yet."""
        return sum(partition.append_retry_count for partition in self.partitions)

    def start(self, partition_count: int) -> None:
        """From now on it answers. The count is that of __transaction_state, and never changes."""
        self.partitions.count = partition_count
        self.partitions.is_active = True
        self._aborting.start()
        self._expiry.start()

    def shut_down(self) -> None:
        """Whoever waits hears NOT_COORDINATOR, whoever asks later COORDINATOR_NOT_AVAILABLE."""
        self.partitions.is_active = False
        self.partitions.close()
        self._aborting.stop()
        self._expiry.stop()

    def partition_for(self, transactional_id: str) -> int:
        return partition_of(transactional_id, self.partitions.count)

    def elected(self, partition: int, leader_epoch: int) -> None:
        """Loads the partition; an epoch that is not newer changes nothing."""
        self.partitions.elected(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """Unloads the partition. Without an epoch (StopReplica) in any case."""
        self.partitions.resigned(partition, leader_epoch)

    def init_producer_id(
        self,
        transactional_id: str,
        *,
        timeout_ms: int,
        expected: ProducerIdentity | None,  # of a producer that goes on after an error (KIP-360)
        to: Callable[[InitAnswer], None],
    ) -> None:
        if not transactional_id:
            to(InitAnswer(_E.INVALID_REQUEST))
        elif not 0 < timeout_ms <= self._settings.max_timeout_ms:
            to(InitAnswer(_E.INVALID_TRANSACTION_TIMEOUT))
        else:
            self._init(_Init(transactional_id, timeout_ms, expected, to))

    def _init(self, asked: _Init, new_producer_id: int | ErrorCode | None = None) -> None:
        """Asks for a new producer id if it needs one, then starts over: much may have changed."""
        partition = self.partitions.find(asked.transactional_id)
        if isinstance(partition, ErrorCode):
            asked.to(InitAnswer(partition))
            return
        if isinstance(new_producer_id, ErrorCode):
            asked.to(InitAnswer(new_producer_id))
            return
        transaction = partition.transactions.get(asked.transactional_id)
        if new_producer_id is None:
            if transaction is None or transaction.needs_producer_id(asked.expected):
                self._new_producer_id(partial(self._init, asked))
                return
        elif transaction is None:
            transaction = partition.host(
                asked.transactional_id, producer_id=new_producer_id, timeout_ms=asked.timeout_ms
            )
        now_ms = self._clock.now_ms()
        effects = transaction.init(
            timeout_ms=asked.timeout_ms,
            expected=asked.expected,
            new_producer_id=new_producer_id,
            to=asked.to,
            now_ms=now_ms,
        )
        partition.carry_out(transaction, effects, now_ms=now_ms)

    def add_partitions(
        self,
        transactional_id: str,
        *,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
        to: Callable[[ErrorCode], None],
    ) -> None:
        """AddPartitionsToTxn, and AddOffsetsToTxn with the group's partition."""
        found = self._find(transactional_id)
        if isinstance(found, ErrorCode):
            to(found)
            return
        (partition, transaction), now_ms = found, self._clock.now_ms()
        effects = transaction.add(
            partitions,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            to=to,
            now_ms=now_ms,
        )
        partition.carry_out(transaction, effects, now_ms=now_ms)

    def verify_partitions(
        self,
        transactional_id: str,
        *,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]:
        """Whether they are in an ongoing transaction; TRANSACTION_ABORTABLE if not (KIP-890)."""
        found = self._find(transactional_id)
        if isinstance(found, ErrorCode):
            return dict.fromkeys(partitions, found)
        return found[1].verify(partitions, producer_id=producer_id, producer_epoch=producer_epoch)

    def end(
        self,
        transactional_id: str,
        *,
        producer_id: int,
        producer_epoch: int,
        is_commit: bool,
        to: Callable[[ErrorCode], None],
    ) -> None:
        """Answered once the end is decided for good; the markers follow."""
        found = self._find(transactional_id)
        if isinstance(found, ErrorCode):
            to(found)
            return
        (partition, transaction), now_ms = found, self._clock.now_ms()
        effects = transaction.end(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            is_commit=is_commit,
            to=to,
            now_ms=now_ms,
        )
        partition.carry_out(transaction, effects, now_ms=now_ms)

    def describe(self, transactional_id: str) -> DescribedTransaction:
        if self.partitions.is_active and not transactional_id:
            return DescribedTransaction(_E.INVALID_REQUEST)
        partition = self.partitions.find(transactional_id)
        if isinstance(partition, ErrorCode):
            return DescribedTransaction(partition)
        return describe(partition.transactions.get(transactional_id))

    def list_transactions(
        self,
        states: Sequence[str] = (),
        producer_ids: Sequence[int] = (),
        *,
        min_duration_ms: int = -1,
    ) -> ListedTransactions:
        """All that pass the filters; an empty one and a negative duration let all through."""
        if not self.partitions.is_active:
            return ListedTransactions(_E.COORDINATOR_NOT_AVAILABLE)
        if self.partitions.is_loading:
            return ListedTransactions(_E.COORDINATOR_LOAD_IN_PROGRESS)
        before_ms = self._clock.now_ms() - min_duration_ms if min_duration_ms >= 0 else None
        return listed(
            (transaction for _, transaction in self.partitions.hosted()),
            states=states,
            producer_ids=producer_ids,
            started_before_ms=before_ms,
        )

    def topics_deleted(self, names: Sequence[str]) -> None:
        """Nobody waits any longer for markers in them."""
        gone = dict.fromkeys(names)
        for partition in self.partitions:
            for marking in list(partition.markings.values()):
                if any(topic in gone for topic, _ in marking.lacking):
                    partition.retry_markers(marking)

    def _find(self, transactional_id: str) -> tuple[TransactionPartition, Transaction] | ErrorCode:
        if not transactional_id:
            return _E.INVALID_REQUEST
        partition = self.partitions.find(transactional_id)
        if isinstance(partition, ErrorCode):
            return partition
        transaction = partition.transactions.get(transactional_id)
        return _E.INVALID_PRODUCER_ID_MAPPING if transaction is None else (partition, transaction)

    def _abort_overdue(self) -> Iterator[None]:
        for partition, transaction in self.partitions.hosted():
            now_ms = self._clock.now_ms()
            if transaction.is_overdue(now_ms=now_ms):
                effects = transaction.abort_overdue(
                    partial(self._timed_out, transaction), now_ms=now_ms
                )
                partition.carry_out(transaction, effects, now_ms=now_ms)
            yield

    def _timed_out(self, transaction: Transaction, error: ErrorCode) -> None:
        if error is _E.NONE:
            self.timed_out_count += 1
            _logger.info(
                "%s: its transaction was longer than %d ms and is aborted",
                transaction.id, transaction.timeout_ms,
            )  # fmt: skip

    def _expire(self) -> Iterator[None]:
        after_ms = self._settings.id_expiration_ms
        for partition, transaction in self.partitions.hosted():
            now_ms = self._clock.now_ms()
            if transaction.is_expired(now_ms=now_ms, after_ms=after_ms):
                forget = partial(self._forget, partition)
                effects = transaction.expire(forget, now_ms=now_ms)
                partition.carry_out(transaction, effects, now_ms=now_ms)
            yield

    def _forget(self, partition: TransactionPartition, transaction: Transaction) -> None:
        self.expired_count += 1
        del partition.transactions[transaction.id]

    def _new_partition(
        self, number: int, leader_epoch: int, runtime: Runtime
    ) -> TransactionPartition:
        return TransactionPartition(
            number,
            leader_epoch,
            runtime,
            sender=self._sender,
            timer=self._timer,
            clock=self._clock,
        )
