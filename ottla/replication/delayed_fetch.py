"""A fetch that found too little, and waits for more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.network.connection import Connection
from ottla.replication.partition import Partition
from ottla.replication.reading import Found, Isolation, Reader, Wanted, end_of_view, read


class DelayedFetch:
    """Answers once: when there is enough, when an error appears, or when the time is over."""

    __slots__ = ("_reader", "_reply", "_wanted", "completed", "connection")

    def __init__(
        self,
        wanted: Sequence[Wanted],
        reader: Reader,
        reply: Callable[[list[Found]], None],
        connection: Connection | None = None,
    ) -> None:
        self.completed = False
        self.connection = connection  # to say who waits
        self._wanted = wanted
        self._reader = reader
        self._reply = reply

    def try_complete(self) -> bool:
        if self.completed or not self._has_news():
            return self.completed
        found = read(self._wanted, self._reader)
        if is_enough(found, self._reader):
            self._complete(found)
        return self.completed

    def _has_news(self) -> bool:
        """Without looking into any index: is there anything beyond what the reader has?"""
        for wanted in self._wanted:
            partition = wanted.partition
            if partition is None or partition.log is None or not partition.is_leader:
                return True
            if wanted.fetch_offset < end_of_view(partition.log, self._reader):
                return True
            if wanted.leader_epoch not in (-1, partition.leader_epoch):
                return True
        return False

    def held_back_at(self, partition: Partition) -> int | None:
        """The offset from which it would find more there, were no transaction open; else None."""
        reader, log = self._reader, partition.log
        if reader.is_follower or reader.isolation is not Isolation.READ_COMMITTED or log is None:
            return None
        for wanted in self._wanted:
            if wanted.partition is partition:
                is_held_back = log.last_stable_offset <= wanted.fetch_offset < log.high_watermark
                return wanted.fetch_offset if is_held_back else None
        return None

    def expire(self) -> None:
        if not self.completed:
            self._complete(read(self._wanted, self._reader))

    def _complete(self, found: list[Found]) -> None:
        self.completed = True
        self._reply(found)


def is_enough(found: Sequence[Found], reader: Reader) -> bool:
    """Whether a fetch is answered at once: enough bytes, or something that cannot wait."""
    if sum(each.size_bytes for each in found) >= reader.min_bytes:
        return True
    return any(each.error or each.diverging is not None for each in found)
