"""Leader epochs: which leader wrote which part of a log, and where two replicas part (KIP-101).

An entry says at which offset an epoch begins; it ends where the next one begins, the last at the
log's end. Epochs and offsets both only grow from entry to entry.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The largest epoch not above the one asked for, and the offset after its last record."""

    epoch: int
    end_offset: int


UNDEFINED = EpochEnd(UNDEFINED_EPOCH, UNDEFINED_OFFSET)


class LeaderEpochs:
    """The epochs of one log. `entries` is replaced, never changed: it may be kept or restored."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[EpochEntry] = ()) -> None:
        self.entries: tuple[EpochEntry, ...] = ()
        for entry in entries:
            self.assign(entry.epoch, start_offset=entry.start_offset)

    @property
    def latest(self) -> EpochEntry | None:
        return self.entries[-1] if self.entries else None

    @property
    def earliest(self) -> EpochEntry | None:
        return self.entries[0] if self.entries else None

    def assign(self, epoch: int, *, start_offset: int) -> bool:
        """The epoch begins at this offset; True if the entries changed and need a checkpoint.

        What the log says now wins: entries at its end with a larger or equal epoch or offset go.
        """
        assert epoch >= 0
        assert start_offset >= 0
        entries = self.entries
        if entries:
            last_epoch, last_start = entries[-1]
            if epoch == last_epoch and start_offset >= last_start:
                return False
        kept = len(entries)
        while kept and (entries[kept - 1][0] >= epoch or entries[kept - 1][1] >= start_offset):
            kept -= 1
        self.entries = (*entries[:kept], EpochEntry(epoch, start_offset))
        return True

    def follow(self, epoch: int, *, first_offset: int, last_offset: int) -> None:
        """Batches of one epoch were found in the log; where the entries say otherwise they go."""
        above = bisect_right(self.entries, last_offset, key=lambda entry: entry.start_offset)
        if above:
            known, start_offset = self.entries[above - 1]
            if known == epoch and start_offset <= first_offset:
                return
        self.truncate_from_end(first_offset)
        self.assign(epoch, start_offset=first_offset)

    def end_offset_for(self, epoch: int, *, log_end_offset: int) -> EpochEnd:
        """What OffsetForLeaderEpoch answers; `UNDEFINED` for an epoch this log has yet to hear of.

        An epoch older than all known ends where the log's first epoch begins, under its own name.
        """
        entries = self.entries
        if epoch == UNDEFINED.epoch or not entries or epoch > entries[-1].epoch:
            return UNDEFINED
        if epoch == entries[-1].epoch:
            return EpochEnd(epoch, log_end_offset)
        above = self._first_above(epoch)
        found = entries[above - 1].epoch if above else epoch
        return EpochEnd(found, entries[above].start_offset)

    def divergence(
        self, *, last_fetched_epoch: int, fetch_offset: int, log_end_offset: int
    ) -> EpochEnd | None:
        """Where a fetcher's log parts from this one (KIP-595); None if it does not.

        OFFSET_OUT_OF_RANGE if its epoch says nothing about this log.
        """
        end = self.end_offset_for(last_fetched_epoch, log_end_offset=log_end_offset)
        if end == UNDEFINED:
            detail = f"no end is known for epoch {last_fetched_epoch}"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
        if end.epoch < last_fetched_epoch or end.end_offset < fetch_offset:
            return end
        return None

    def previous_epoch(self, epoch: int | None = None) -> int | None:
        """The largest known epoch below this one, or below the latest."""
        if epoch is None:
            return self.entries[-2].epoch if len(self.entries) > 1 else None
        above = self._first_above(epoch - 1)
        return self.entries[above - 1].epoch if above else None

    def epoch_for_offset(self, offset: int) -> int | None:
        """The epoch that wrote, or will write, this offset; None before the first entry."""
        above = bisect_right(self.entries, offset, key=lambda entry: entry.start_offset)
        return self.entries[above - 1].epoch if above else None

    def truncate_from_end(self, offset: int) -> bool:
        """The log now ends at `offset`; True if entries went."""
        kept = len(self.entries)
        while kept and self.entries[kept - 1].start_offset >= offset:
            kept -= 1
        changed = kept != len(self.entries)
        self.entries = self.entries[:kept]
        return changed

    def truncate_from_start(self, offset: int) -> bool:
        """The log now starts at `offset`: so does the epoch it falls in. True if entries changed.

        The last entry never goes, for the next leader must know which epoch came before its own.
        """
        above = bisect_right(self.entries, offset, key=lambda entry: entry.start_offset)
        if not above or (above == 1 and self.entries[0].start_offset == offset):
            return False
        first = EpochEntry(self.entries[above - 1].epoch, offset)
        self.entries = (first, *self.entries[above:])
        return True

    def clear(self) -> None:
        self.entries = ()

    def _first_above(self, epoch: int) -> int:
        return bisect_right(self.entries, epoch, key=lambda entry: entry.epoch)
