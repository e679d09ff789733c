"""How far one group has read: committed, on its way into the log, or up to a transaction's end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.coordinators.groups.answers import FetchedOffset, TopicPartition
from ottla.coordinators.groups.records import CommittedOffset
from ottla.protocol.errors import ErrorCode

_NOTHING = FetchedOffset()
_UNSTABLE = FetchedOffset(error=ErrorCode.UNSTABLE_OFFSET_COMMIT)


def nothing_committed(partitions: Iterable[TopicPartition]) -> dict[TopicPartition, FetchedOffset]:
    """What a group that nobody knows answers: it is no error."""
    return dict.fromkeys(partitions, _NOTHING)


class Offsets:
    """Only what the log has committed is shown; `apply` is the same for a load and for a commit."""

    __slots__ = ("_in_flight", "_transactional", "committed")

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, CommittedOffset] = {}
        self._in_flight: dict[TopicPartition, int] = {}  # how many commits of it are on their way
        self._transactional: dict[int, dict[TopicPartition, CommittedOffset]] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to keep the group for."""
        return bool(self.committed or self._in_flight or self._transactional)

    def stage(self, partition: TopicPartition) -> None:
        """A commit of it was appended; `unstage` once it is known what became of that."""
        self._in_flight[partition] = self._in_flight.get(partition, 0) + 1

    def unstage(self, partition: TopicPartition) -> None:
        count = self._in_flight[partition] - 1
        if count:
            self._in_flight[partition] = count
        else:
            del self._in_flight[partition]

    def apply(self, partition: TopicPartition, found: CommittedOffset | None) -> None:
        """A record of the log; None is a tombstone."""
        if found is None:
            self.committed.pop(partition, None)
            for pending in self._transactional.values():
                pending.pop(partition, None)
            return
        known = self.committed.get(partition)
        if known is None or known.position <= found.position:
            self.committed[partition] = found

    def begin_transactional(
        self, producer_id: int, partition: TopicPartition, found: CommittedOffset
    ) -> None:
        """It counts only if the producer's transaction is committed."""
        self._transactional.setdefault(producer_id, {})[partition] = found

    def drop_transactional(self, producer_id: int, partition: TopicPartition) -> None:
        """The log refused it after all."""
        pending = self._transactional.get(producer_id, {})
        pending.pop(partition, None)
        if not pending:
            self._transactional.pop(producer_id, None)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """A plain commit that came later in the log wins over one of the transaction."""
        pending = self._transactional.pop(producer_id, {})
        if committed:
            for partition, found in pending.items():
                self.apply(partition, found)

    @property
    def producer_ids(self) -> list[int]:
        """Those with open transactions."""
        return list(self._transactional)

    def is_in_flight(self, partition: TopicPartition) -> bool:
        return partition in self._in_flight

    def is_unstable(self, partition: TopicPartition) -> bool:
        """It may change without another request."""
        return partition in self._in_flight or any(
            partition in pending for pending in self._transactional.values()
        )

    def known(self) -> list[TopicPartition]:
        """Every partition with an offset, be it only on its way."""
        return list(self.committed | self._in_flight)

    def fetch(
        self, partitions: Sequence[TopicPartition] | None, *, require_stable: bool
    ) -> dict[TopicPartition, FetchedOffset]:
        wanted = self.committed if partitions is None else partitions
        look_for_unstable = require_stable and (self._in_flight or self._transactional)
        found: dict[TopicPartition, FetchedOffset] = {}
        for partition in wanted:
            if look_for_unstable and self.is_unstable(partition):
                found[partition] = _UNSTABLE
            elif (known := self.committed.get(partition)) is not None:
                found[partition] = FetchedOffset(known[0], known[1], known[2])
            else:
                found[partition] = _NOTHING
        return found
