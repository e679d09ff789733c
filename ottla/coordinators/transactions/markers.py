"""Which partitions of a decided transaction lack a marker still, and whom to ask for it."""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinators.transactions.marker_port import NO_LEADER, MarkerCodes
from ottla.coordinators.transactions.requests import Marker, TopicPartition
from ottla.coordinators.transactions.state import TransactionState
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.errors import ErrorCode

FIRST_RETRY_MS = 20
LAST_RETRY_MS = 1_000

_E = ErrorCode
# With the last two nothing of the transaction can be in the partition.
WRITTEN = (_E.NONE, _E.UNSUPPORTED_FOR_MESSAGE_FORMAT, _E.UNSUPPORTED_VERSION)
# Somebody has ended the transaction since: it is not this coordinator's any more.
OVERTAKEN = (_E.INVALID_PRODUCER_EPOCH, _E.TRANSACTION_COORDINATOR_FENCED)


class Marking:
    """From when the end is decided to when every partition knows of it.

    A partition is either lacking, or asked for and not answered yet, or done. Any error but those
    named above is asked again: a transaction must not hang because of one that we do not know.
    """

    __slots__ = ("_attempts", "coordinator_epoch", "is_overtaken", "lacking", "transaction")

    def __init__(self, transaction: Transaction, coordinator_epoch: int) -> None:
        self.transaction = transaction
        self.coordinator_epoch = coordinator_epoch
        self.lacking = dict.fromkeys(transaction.partitions)
        self.is_overtaken = False
        self._attempts = 0

    @property
    def is_done(self) -> bool:
        return not self.transaction.partitions

    def asked(self, leader_of: Callable[[str, int], int | None]) -> dict[int, Marker]:
        """By leader, for whatever lacks a marker; without a leader it lacks it still."""
        by_leader: dict[int, list[TopicPartition]] = {}
        lacking, self.lacking = self.lacking, {}
        for partition in lacking:
            leader = leader_of(*partition)
            if leader is None:
                self.transaction.marked(partition)
            elif leader == NO_LEADER:
                self.lacking[partition] = None
            else:
                by_leader.setdefault(leader, []).append(partition)
        return {leader: self._marker(found) for leader, found in by_leader.items()}

    def answered(self, marker: Marker, codes: MarkerCodes) -> None:
        for partition in marker.partitions:
            code = codes.get((marker.producer_id, partition)) if codes is not None else None
            if code in WRITTEN:
                self.transaction.marked(partition)
            elif code in OVERTAKEN:
                self.is_overtaken = True
            else:
                self.lacking[partition] = None

    def next_delay_ms(self) -> int:
        """How long to wait before those that lack are asked for again."""
        delay_ms = min(FIRST_RETRY_MS << min(self._attempts, 10), LAST_RETRY_MS)
        self._attempts += 1
        return delay_ms

    def _marker(self, partitions: list[TopicPartition]) -> Marker:
        transaction = self.transaction
        return Marker(
            transaction.producer_id,
            transaction.epoch,
            self.coordinator_epoch,
            transaction.state is TransactionState.PREPARE_COMMIT,
            tuple(partitions),
        )
