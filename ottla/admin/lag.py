"""Is a consumer keeping up? Burrow's rules, over a window of what was seen of one partition.

A lag has no right size: what counts is how it moves. So nothing here has a threshold; the rules
look at the last commits and ask whether the consumer still comes forward.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

INTERVALS = 10  # how many commits Burrow remembers


class Status(IntEnum):
    """Burrow's codes. What is worse has the higher number."""

    NOT_FOUND = 0
    OK = 1
    WARNING = 2
    ERROR = 3
    STOPPED = 4
    STALLED = 5
    REWINDING = 6

    @property
    def word(self) -> str:
        return self.name.lower().replace("_", " ")


class Commit(NamedTuple):
    timestamp_ms: int
    offset: int
    lag: int


def judge(
    commits: Sequence[Commit],
    *,
    end_offsets: Sequence[int],
    current_lag: int,
    now_ms: int,
    allowed_lag: int = 0,
    minimum_complete: float = 0.0,
) -> Status:
    """One partition. `end_offsets` are where it ended when it was looked at, as far as known."""
    if not commits or len(commits) / INTERVALS < minimum_complete or current_lag <= allowed_lag:
        return Status.OK
    if _has_stopped(commits, end_offsets, now_ms):
        return Status.STOPPED
    if _rewinds([commit.offset for commit in commits]):
        return Status.REWINDING
    if any(commit.lag <= allowed_lag for commit in commits):
        return Status.OK  # it was done with everything within the window
    if all(after.offset == before.offset for before, after in pairwise(commits)):
        return Status.STALLED
    if all(after.lag >= before.lag for before, after in pairwise(commits)):
        return Status.WARNING
    return Status.OK


def judge_group(partitions: Iterable[Status]) -> Status:
    """As bad as the worst partition; which kind of bad is told partition by partition."""
    return min(max(partitions, default=Status.OK), Status.ERROR)


def _has_stopped(commits: Sequence[Commit], end_offsets: Sequence[int], now_ms: int) -> bool:
    first, last = commits[0], commits[-1]
    is_silent = now_ms - last.timestamp_ms > last.timestamp_ms - first.timestamp_ms
    # A consumer that has just read everything has no reason to commit.
    was_at_the_end = any(end <= last.offset for end in end_offsets)
    return is_silent and not was_at_the_end


def _rewinds(offsets: Sequence[int]) -> bool:
    """It went back, and has not come again to where it was."""
    return any(
        after < before and all(later < before for later in offsets[number + 1 :])
        for number, (before, after) in enumerate(pairwise(offsets))
    )


class Observation(NamedTuple):
    """`is_owned`: a member of the group has the partition."""

    at_ms: int
    offset: int
    end_offset: int
    is_owned: bool


class Window:
    """The last observations of one partition, and the commits that they show.

    A broker does not tell when an offset was committed. A new offset is a commit; so is the same
    one again while a member holds the partition, because such a member goes on committing: one
    that does not come forward has stalled. Without a member the same offset means silence.
    """

    def __init__(self) -> None:
        self.observations: deque[Observation] = deque(maxlen=INTERVALS)
        self._commits: deque[Commit] = deque(maxlen=INTERVALS)

    def observe(self, seen: Observation) -> None:
        is_new = not self._commits or self._commits[-1].offset != seen.offset
        if is_new or seen.is_owned:
            self._commits.append(Commit(seen.at_ms, seen.offset, lag_of(seen)))
        self.observations.append(seen)

    def status(self) -> Status:
        """One observation shows no movement, so it accuses nobody."""
        if len(self.observations) < 2:
            return Status.OK
        last = self.observations[-1]
        return judge(
            self._commits,
            end_offsets=[each.end_offset for each in self.observations],
            current_lag=lag_of(last),
            now_ms=last.at_ms,
        )

    def read_per_s(self) -> float | None:
        """How fast the committed offset moves."""
        first, last = self.observations[0], self.observations[-1]
        return _per_s(last.offset - first.offset, last.at_ms - first.at_ms)

    def written_per_s(self) -> float | None:
        first, last = self.observations[0], self.observations[-1]
        return _per_s(last.end_offset - first.end_offset, last.at_ms - first.at_ms)

    def caught_up_in_s(self) -> float | None:
        """If both go on as they do; None if it would never be, or cannot be told."""
        lag = lag_of(self.observations[-1])
        if lag == 0:
            return 0.0
        read, written = self.read_per_s(), self.written_per_s()
        if read is None or written is None or read <= written:
            return None
        return lag / (read - written)


def lag_of(seen: Observation) -> int:
    """Not below zero: the end is asked a moment before or after the committed offset."""
    return max(0, seen.end_offset - seen.offset)


def _per_s(records: int, elapsed_ms: int) -> float | None:
    return records * 1000 / elapsed_ms if elapsed_ms > 0 else None
