"""What is appended in one tick, until it is written: all of it or none."""

from __future__ import annotations

from typing import NamedTuple

from ottla.storage.segment import AppendFields
from ottla.storage.transactions import AbortedTransaction, CompletedTransaction


class AppendGroup:
    """The appends that share one write, and why it failed, if it did."""

    __slots__ = (
        "aborted",
        "appends",
        "error",
        "most_bytes",
        "most_offset",
        "next_offset",
        "now_ms",
        "old_from_ms",
        "size_bytes",
        "tracks_producers",
    )

    def __init__(
        self, next_offset: int, now_ms: int, *, most_bytes: int, most_offset: int, old_from_ms: int
    ) -> None:
        self.appends: list[AppendFields] = []
        self.aborted: list[AbortedTransaction] | None = None
        self.size_bytes = 0
        self.now_ms = now_ms
        # Up to where an append still fits into its segment without another look at that.
        self.most_bytes = most_bytes
        self.most_offset = most_offset
        self.old_from_ms = old_from_ms
        self.next_offset = next_offset  # where the log ends if the write fails
        self.tracks_producers = False
        self.error: Exception | None = None

    def note_end(self, completed: CompletedTransaction | None) -> None:
        """What was aborted goes into the transaction index with the write."""
        if completed is not None and completed.is_aborted:
            self.aborted = [*(self.aborted or ()), AbortedTransaction.of(completed)]


class Appended(NamedTuple):
    """The offsets that an append got. They count once its group is written.

    Without a group it was a duplicate of something that has long been written.
    """

    first_offset: int
    last_offset: int
    log_append_time: int
    group: AppendGroup | None
