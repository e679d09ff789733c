"""Follows transactions through a log while it is compacted: whose data was aborted, and which
markers are no longer needed. Only offsets below the last stable one are followed, so every
transaction's end is known before its data is met.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop
from typing import NamedTuple

from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import ControlType
from ottla.storage.transactions import AbortedTransaction


class ActiveProducer(NamedTuple):
    """What must stay of a producer that may go on: the batch that ends at its last data offset.

    Without one, all that is known of it is a marker's epoch, and that marker stays.
    """

    producer_id: int
    producer_epoch: int
    last_data_offset: int | None


class TransactionTrail:
    """One walk through a log's batches in order, from `start_offset` on."""

    def __init__(self, aborted: Iterable[AbortedTransaction], *, start_offset: int = 0) -> None:
        # One that ended before the walk begins would never meet its marker, and would take the
        # producer's next transaction with it.
        self._ahead = [
            (entry.first_offset, entry) for entry in aborted if entry.last_offset >= start_offset
        ]
        heapify(self._ahead)
        self._aborted: dict[int, AbortedTransaction] = {}
        self._with_data: set[int] = set()  # producers in a transaction of which data was met
        self._indexed: list[AbortedTransaction] = []

    def _reach(self, offset: int) -> None:
        while self._ahead and self._ahead[0][0] <= offset:
            entry = heappop(self._ahead)[1]
            self._aborted.setdefault(entry.producer_id, entry)

    def meet_data(self, header: BatchHeader) -> bool:
        """Whether the batch belongs to an aborted transaction."""
        self._reach(header.last_offset)
        if not header.is_transactional:
            return False
        self._with_data.add(header.producer_id)
        return header.producer_id in self._aborted

    def meet_marker(self, header: BatchHeader, control_type: ControlType | None) -> bool:
        """Whether nothing of the transaction is left before its marker.

        None is a marker that was emptied earlier. The data of an aborted transaction counts though
        this pass removes it: consumers read it until the new segment is swapped in.
        """
        self._reach(header.last_offset)
        match control_type:
            case None:
                return True
            case ControlType.ABORT | ControlType.COMMIT:
                had_data = header.producer_id in self._with_data
                self._with_data.discard(header.producer_id)
                if control_type is ControlType.ABORT:
                    aborted = self._aborted.pop(header.producer_id, None)
                    if aborted is None:
                        return True
                    if had_data:
                        self._indexed.append(aborted)
                return not had_data
            case _:
                return False

    def take_indexed(self) -> list[AbortedTransaction]:
        """The aborted transactions that still had data, of the markers met since the last call."""
        indexed, self._indexed = self._indexed, []
        return indexed
