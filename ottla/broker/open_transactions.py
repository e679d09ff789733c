"""Transactions that are open in the partitions led here: how old, whose, and who waits for them.

Found when somebody looks: what is counted on the way of a request does not know of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ottla.config.transaction_options import TRANSACTION_MAX_TIMEOUT_MS
from ottla.config.units import MINUTE_MS
from ottla.network.connection import Connection
from ottla.replication.delayed_fetch import DelayedFetch
from ottla.replication.partition import Partition
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.log import Log
from ottla.storage.producer import ProducerState

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

# So long after the longest timeout Kafka calls a transaction late.
_LATE_MS = 5 * MINUTE_MS
_Place = tuple[str, int, bytes, int]


class Opened(NamedTuple):
    """`began_ms` is the time of its first batch; None if that is not to be read."""

    producer: ProducerState
    began_ms: int | None


class Unstable(NamedTuple):
    """A partition with open transactions, or with ends of some that are not replicated yet."""

    partition: Partition
    log: Log
    opened: list[Opened]
    waiting: list[tuple[Connection, int]]  # read_committed fetches, and from which offset

    @property
    def lag(self) -> int:
        return self.log.high_watermark - self.log.last_stable_offset

    def is_late(self, *, now_ms: int, max_timeout_ms: int) -> bool:
        if not self.opened:
            return False
        return now_ms - self.opened[0].producer.last_timestamp > max_timeout_ms + _LATE_MS


class OpenTransactions:
    """Remembers when each began, as long as it is open: it is read from the log but once."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._began: dict[_Place, int] = {}

    def unstable(self) -> list[Unstable]:
        found = list(self._unstable())
        places = [
            _place(each.partition, opened.producer) for each in found for opened in each.opened
        ]
        self._began = {each: self._began[each] for each in places if each in self._began}
        return found

    def late(self, unstable: list[Unstable]) -> int:
        """Partitions whose oldest transaction should have been aborted long ago (KIP-664)."""
        max_timeout_ms = self._broker.config[TRANSACTION_MAX_TIMEOUT_MS]
        now_ms = self._broker.ports.clock.now_ms()
        return sum(each.is_late(now_ms=now_ms, max_timeout_ms=max_timeout_ms) for each in unstable)

    def _unstable(self) -> Iterator[Unstable]:
        for partition in self._broker.replicas.led():
            log = partition.log
            if log is None or log.producers.first_unstable_offset(log.high_watermark) is None:
                continue
            opened = [
                Opened(each, self._began_ms(partition, log, each))
                for each in log.producers.in_transactions()
            ]
            yield Unstable(partition, log, opened, list(self._waiting(partition)))

    def _began_ms(self, partition: Partition, log: Log, producer: ProducerState) -> int | None:
        place = _place(partition, producer)
        began_ms = self._began.get(place)
        if began_ms is None:
            began_ms = _first_time(log, producer.transaction_start)
            if began_ms is not None:
                self._began[place] = began_ms
        return began_ms

    def _waiting(self, partition: Partition) -> Iterator[tuple[Connection, int]]:
        for operation in self._broker.replicas.fetches.waiting_for(partition):
            assert isinstance(operation, DelayedFetch)
            offset = operation.held_back_at(partition)
            if offset is not None and operation.connection is not None:
                yield operation.connection, offset


def _place(partition: Partition, producer: ProducerState) -> _Place:
    return partition.topic, partition.index, partition.topic_id, producer.transaction_start


def _first_time(log: Log, offset: int) -> int | None:
    """None also for what is not written yet: it will be, when somebody looks next."""
    try:
        place = log.segments[log.segment_number(offset)].find(offset)
    except (CorruptLog, DiskFailed):  # whoever reads it is told
        return None
    return place.max_timestamp if place is not None and place.max_timestamp >= 0 else None
