"""What many producers and consumers did and heard, as immutable events.

A record's value names it: no two are sent with the same one. Times are whole numbers that never
repeat (see `Recorder`); an operation has two, when it was asked for and when it was answered.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Outcome(StrEnum):
    """FAILED is for what surely did not happen and never will. In doubt it is UNKNOWN."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Isolation(StrEnum):
    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


class Source(NamedTuple):
    """The record that a loop of this group has read and transformed."""

    group: str
    partition: TopicPartition
    offset: int


Offsets = tuple[tuple[TopicPartition, int], ...]


class Initialized(NamedTuple):
    """A client has taken a transactional id: those that had it before are fenced from now on."""

    client: str
    transactional_id: str
    asked: int
    answered: int
    outcome: Outcome = Outcome.OK


class Began(NamedTuple):
    """`transaction` is a name of our own, never given twice."""

    client: str
    transactional_id: str
    transaction: str
    at: int


class Sent(NamedTuple):
    """One record; without a transaction it is visible as soon as it is written.

    `answered` of an outcome that is unknown is when we gave up on it.
    """

    client: str
    partition: TopicPartition
    value: str
    asked: int
    answered: int
    transaction: str | None = None
    outcome: Outcome = Outcome.OK
    offset: int | None = None
    source: Source | None = None


class OffsetsSent(NamedTuple):
    """Offsets of a group, to be committed with the transaction."""

    client: str
    transaction: str
    group: str
    offsets: Offsets
    asked: int
    answered: int
    outcome: Outcome = Outcome.OK


class Ended(NamedTuple):
    """The commit or the abort of a transaction. A commit that fails as fenced is UNKNOWN: its
    marker may have been on its way."""

    client: str
    transaction: str
    is_commit: bool
    asked: int
    answered: int
    outcome: Outcome = Outcome.OK


class Fenced(NamedTuple):
    """A client heard that another has its transactional id: it must never succeed again."""

    client: str
    transactional_id: str
    at: int


class Assigned(NamedTuple):
    """From here on these partitions, and only these, from these offsets; -1: not known which."""

    client: str
    positions: Offsets
    at: int
    group: str | None = None


class Seeked(NamedTuple):
    client: str
    partition: TopicPartition
    offset: int
    at: int


class Read(NamedTuple):
    """`at` is when the application had it."""

    client: str
    partition: TopicPartition
    offset: int
    value: str
    at: int
    isolation: Isolation = Isolation.READ_COMMITTED


class OffsetsCommitted(NamedTuple):
    """By a member, outside of transactions."""

    client: str
    group: str
    offsets: Offsets
    asked: int
    answered: int
    outcome: Outcome = Outcome.OK


class OffsetsFetched(NamedTuple):
    """-1: the group has none. `is_stable`: asked with `require_stable`, so that it waited for
    transactions that were about to end."""

    client: str
    group: str
    offsets: Offsets
    asked: int
    answered: int
    is_stable: bool = True


class FinalRead(NamedTuple):
    """All of a partition, when everything had ended; in order, and in as many pieces as one likes.

    `records` are offsets and values. Neither compaction nor retention may have taken any.
    """

    partition: TopicPartition
    isolation: Isolation
    records: tuple[tuple[int, str], ...]


Event = (
    Initialized
    | Began
    | Sent
    | OffsetsSent
    | Ended
    | Fenced
    | Assigned
    | Seeked
    | Read
    | OffsetsCommitted
    | OffsetsFetched
    | FinalRead
)


class History(NamedTuple):
    """The events of each client in its order.

    `has_one_clock`: the times of different clients can be compared, too.
    """

    events: tuple[Event, ...]
    has_one_clock: bool = True


class Recorder:
    """Collects the events of clients in one process, and gives them their times.

    A time is the clock's (µs, or whatever it counts in), or one more than the last time given.
    """

    def __init__(self, clock: Callable[[], int] = lambda: 0) -> None:
        self.events: list[Event] = []
        self._clock = clock
        self._last = 0

    def now(self) -> int:
        self._last = max(self._last + 1, self._clock())
        return self._last

    def add(self, event: Event) -> None:
        self.events.append(event)

    def history(self) -> History:
        return History(tuple(self.events))
