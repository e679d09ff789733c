"""Blocks that are set aside for a segment that grows, so that not every write looks for its own.

That is a quarter of a large write. And to look for blocks may mean to read from the disk which are
free, behind all that it has to write: who writes much looks seldom.
"""

from __future__ import annotations

import sys

# Small, for it is each busy partition's, and a full disk gives none of it to the others.
LEAST_BYTES = 16 * 1024 * 1024
_AHEAD_MS = 5_000
_SHARE_OF_FREE = 16


class Reserve:
    """When a segment wants blocks, how many, and where those end that it may have."""

    __slots__ = ("_since_bytes", "_since_ms", "due_bytes", "end")

    def __init__(self) -> None:
        self.due_bytes = 0  # the size from which the segment wants more
        self.end = 0
        self._since_bytes = 0
        self._since_ms = 0

    def take_all(self, segment_bytes: int) -> None:
        """The whole segment, at its beginning."""
        self.end, self.due_bytes = segment_bytes, sys.maxsize

    def next_bytes(self, size_bytes: int, segment_bytes: int, *, now_ms: int) -> int:
        """What the next seconds need, by how fast the segment has grown since the last time.

        The first time only says that somebody writes; most segments never grow by as much again.
        None for the segment's last part: to give back what is left of them at the roll would wait
        for the disk.
        """
        is_first = not self.due_bytes
        grown_bytes, took_ms = size_bytes - self._since_bytes, max(1, now_ms - self._since_ms)
        self._since_bytes, self._since_ms = size_bytes, now_ms
        most = segment_bytes - LEAST_BYTES - size_bytes
        if is_first or most < LEAST_BYTES:
            self.due_bytes = size_bytes + LEAST_BYTES
            return 0
        wanted = min(max(LEAST_BYTES, grown_bytes * _AHEAD_MS // took_ms), most)
        self.due_bytes = self.end = size_bytes + wanted
        return wanted


def within(free_bytes: int, wanted: int) -> int:
    """Others write, too: as much of it as a disk can spare that has this left."""
    return min(wanted, free_bytes // _SHARE_OF_FREE)
