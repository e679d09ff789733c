"""What a stretch of a log says of producers and transactions by itself, from its headers alone.

A log in memory knows more: what came after the stretch. But that may not last, and compaction must
not drop anything for the sake of what a power cut can take.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.protocol.records.batch import BatchHeader
from ottla.storage.transaction_trail import ActiveProducer


class Settled:
    """Meets the headers of the stretch, all of them and in order, up to `end_offset`."""

    def __init__(self, end_offset: int) -> None:
        self._end_offset = end_offset
        self._producers: dict[int, ActiveProducer] = {}
        self._open: dict[int, int] = {}  # producer id -> first offset, in the order of those

    def meet(self, header: BatchHeader) -> None:
        producer_id, epoch = header.producer_id, header.producer_epoch
        if producer_id < 0:
            return
        last_data_offset: int | None = header.last_offset
        if header.is_control:
            self._open.pop(producer_id, None)
            known = self._producers.get(producer_id)
            is_same = known is not None and known.producer_epoch == epoch
            last_data_offset = known.last_data_offset if known is not None and is_same else None
        elif header.is_transactional:
            self._open.setdefault(producer_id, header.base_offset)
        self._producers[producer_id] = ActiveProducer(producer_id, epoch, last_data_offset)

    @property
    def stable_offset(self) -> int:
        """Below it every transaction has its end in the stretch, and cannot get another."""
        return min(next(iter(self._open.values()), self._end_offset), self._end_offset)

    def says_nothing_behind(self, first_dirty_offset: int) -> bool:
        """Whether a transaction without its end keeps a pass from all that it was to begin with."""
        return self.stable_offset <= first_dirty_offset < self._end_offset

    def last_of(self, producers: Iterable[ActiveProducer]) -> list[ActiveProducer]:
        """What must stay of them here: of who has gone on behind the stretch, its last here."""
        found = []
        for producer in producers:
            offset = producer.last_data_offset
            if offset is None or offset >= self._end_offset:
                here = self._producers.get(producer.producer_id)
                found += [here] if here is not None else []
            else:
                found.append(producer)
        return found
