"""How far one group has read: committed, on its way into the log, or up to a transaction's end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, groupby, repeat
from operator import itemgetter

from ottla.coordinators.groups.answers import FetchedOffset, TopicPartition
from ottla.coordinators.groups.records import (
    NOTHING_COMMITTED,
    CommittedOffset,
    join_plain,
    parse_offset_value,
)
from ottla.protocol.errors import ErrorCode

_NOTHING = FetchedOffset()
_UNSTABLE = FetchedOffset(error=ErrorCode.UNSTABLE_OFFSET_COMMIT)


def nothing_committed(partitions: Iterable[TopicPartition]) -> dict[TopicPartition, FetchedOffset]:
    """What a group that nobody knows answers: it is no error."""
    return dict.fromkeys(partitions, _NOTHING)


class Offsets:
    """Only what the log has committed is shown; `apply` is the same for a load and for a commit.

    Offsets are kept as the log's own values: there may be a million, rarely looked at, and bytes
    are small and none of the garbage collector's business.
    """

    __slots__ = ("_in_flight", "_positions", "_together", "_transactional", "committed")

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, bytes] = {}
        self._in_flight: dict[TopicPartition, int] = {}  # how many commits of it are on their way
        # The same of commits with very many, by commit.
        self._together: dict[object, Sequence[Sequence[TopicPartition]]] = {}
        # By producer, with their places in the log: a plain commit that came later wins.
        self._transactional: dict[int, dict[TopicPartition, tuple[bytes, int]]] = {}
        # The places of plain commits while any transaction is open; nobody asks for older ones.
        self._positions: dict[TopicPartition, int] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to keep the group for."""
        return bool(self.committed) or not self.is_settled

    def get(self, partition: TopicPartition) -> CommittedOffset | None:
        value = self.committed.get(partition)
        return None if value is None else parse_offset_value(value)

    def stage(self, partition: TopicPartition) -> None:
        """A commit of it was appended; `unstage` once it is known what became of that."""
        self._in_flight[partition] = self._in_flight.get(partition, 0) + 1

    def unstage(self, partition: TopicPartition) -> None:
        count = self._in_flight[partition] - 1
        if count:
            self._in_flight[partition] = count
        else:
            del self._in_flight[partition]

    def stage_together(
        self, commit: object, partitions: Sequence[Sequence[TopicPartition]]
    ) -> None:
        """As `stage`, of all that are in one commit, topic by topic."""
        self._together[commit] = partitions

    def unstage_together(self, commit: object) -> None:
        del self._together[commit]

    def apply_together(
        self, partitions: Sequence[TopicPartition], values: Iterable[bytes], *, position: int
    ) -> None:
        """As `apply`, of many in one commit."""
        self.committed.update(zip(partitions, values, strict=True))
        if self._transactional:
            self._positions.update(dict.fromkeys(partitions, position))

    def apply(self, partition: TopicPartition, value: bytes | None, *, position: int) -> None:
        """A record of the log; None is a tombstone."""
        if value is None:
            self.committed.pop(partition, None)
            for pending in self._transactional.values():
                pending.pop(partition, None)
            return
        self.committed[partition] = value
        if self._transactional:
            self._positions[partition] = position

    def begin_transactional(
        self, producer_id: int, partition: TopicPartition, value: bytes, *, position: int
    ) -> None:
        """It counts only if the producer's transaction is committed."""
        self._transactional.setdefault(producer_id, {})[partition] = (value, position)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        pending = self._transactional.pop(producer_id, {})
        if committed:
            for partition, (value, position) in pending.items():
                if self._positions.get(partition, -1) < position:
                    self.apply(partition, value, position=position)
        if not self._transactional:
            self._positions.clear()

    @property
    def producer_ids(self) -> list[int]:
        """Those with open transactions."""
        return list(self._transactional)

    def is_in_flight(self, partition: TopicPartition) -> bool:
        return partition in self._in_flight or any(
            partition in topic for together in self._together.values() for topic in together
        )

    def is_unstable(self, partition: TopicPartition) -> bool:
        """It may change without another request."""
        return self.is_in_flight(partition) or any(
            partition in pending for pending in self._transactional.values()
        )

    def known(self) -> list[TopicPartition]:
        """Every partition with an offset, be it only on its way."""
        together = chain.from_iterable(chain.from_iterable(self._together.values()))
        pending = chain.from_iterable(self._transactional.values())
        return list(dict.fromkeys(chain(self.committed, self._in_flight, together, pending)))

    def fetch(
        self, partitions: Iterable[TopicPartition] | None, *, require_stable: bool
    ) -> dict[TopicPartition, FetchedOffset]:
        wanted = self.committed if partitions is None else partitions
        look_for_unstable = require_stable and not self.is_settled
        found: dict[TopicPartition, FetchedOffset] = {}
        for partition in wanted:
            if look_for_unstable and self.is_unstable(partition):
                found[partition] = _UNSTABLE
            elif (value := self.committed.get(partition)) is not None:
                offset, leader_epoch, metadata, _, _ = parse_offset_value(value)
                found[partition] = FetchedOffset(offset, leader_epoch, metadata)
            else:
                found[partition] = _NOTHING
        return found

    @property
    def is_settled(self) -> bool:
        """Nothing is on its way."""
        return not (self._in_flight or self._together or self._transactional)

    def by_topic(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for topic, places in groupby(self.committed, itemgetter(0)):
            found.setdefault(topic, []).extend(map(itemgetter(1), places))
        return found

    def plain(self, topic: str, indexes: Sequence[int]) -> bytes | None:
        """The values of all, one after the other; None if there is more to tell of any."""
        places = zip(repeat(topic), indexes, strict=False)
        return join_plain(list(map(self.committed.get, places, repeat(NOTHING_COMMITTED))))
