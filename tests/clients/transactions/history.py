"""What exactly-once loops told of their transactions, and the same as a history to be checked.

A record that is passed on names the transaction that wrote it and the record that it is of. All
loops append to one file, each event with one write: its lines are their common time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ottla.verify import history as told
from ottla.verify.history import Outcome, TopicPartition

Input: TypeAlias = tuple[int, int]  # partition and offset

BEGUN, HANGING, FAILED = "begun", "hanging", "failed"
COMMITTED, ABORTED = "committed", "aborted"
UNSURE = "unsure"  # the commit failed: only the broker knows
ENDS = (COMMITTED, ABORTED, UNSURE)
KILLED = "killed"  # nobody told how it ended
_NEVER = 1 << 40


class Event(NamedTuple):
    member: str
    kind: str
    attempt: str = ""
    inputs: tuple[Input, ...] = ()
    text: str = ""


class Read(NamedTuple):
    """A record as a reader got it."""

    partition: int
    offset: int
    value: str


class Route(NamedTuple):
    """Which group passes on what."""

    group: str
    source: str
    target: str
    target_partitions: int


def parsed(line: str) -> Event:
    found = json.loads(line)
    return Event(
        member=found["member"],
        kind=found["event"],
        attempt=found.get("attempt", ""),
        inputs=tuple((partition, offset) for partition, offset in found.get("inputs") or ()),
        text=found.get("text", ""),
    )


def written(journal: Path) -> Journey:
    """What is there by now; a line that is being written waits for the next time."""
    text = journal.read_text(encoding="utf-8") if journal.exists() else ""
    return Journey(parsed(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))


class Journey:
    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)

    def hanging(self, tag: str) -> str | None:
        """The transaction in which this life of a member hangs now, without an end."""
        own = [each for each in self.events if each.attempt.startswith(f"{tag}.")]
        return own[-1].attempt if own and own[-1].kind == HANGING else None

    def outcome(self, attempt: str) -> str | None:
        ends = [each.kind for each in self.events if each.attempt == attempt and each.kind in ENDS]
        return ends[0] if ends else None

    def history(self, route: Route) -> Iterator[told.Event]:
        """As the checker wants it; what has no end may have been committed, unless it hung."""
        ends = {each.attempt: (at, each) for at, each in self._timed() if each.kind in ENDS}
        hung = [each.attempt for each in self.events if each.kind == HANGING]
        for at, event in self._timed():
            if event.kind == BEGUN:
                otherwise = event._replace(kind=ABORTED if event.attempt in hung else KILLED)
                end_at, end = ends.get(event.attempt, (at + _NEVER, otherwise))
                yield from _transaction(route, event, at, end.kind, end_at)

    def _timed(self) -> Iterator[tuple[int, Event]]:
        """With room between two events for what is told of them."""
        room = 10 + max((len(each.inputs) for each in self.events), default=0)
        return ((line * room, each) for line, each in enumerate(self.events, 1))


def _transaction(
    route: Route, begun: Event, at: int, end: str, end_at: int
) -> Iterator[told.Event]:
    client, name = begun.member, begun.attempt
    # It asks for the commit only when all is acknowledged.
    sure = Outcome.UNKNOWN if end == ABORTED else Outcome.OK
    yield told.Began(client, client, name, at)
    for number, (partition, offset) in enumerate(begun.inputs, 1):
        yield told.Sent(
            client,
            TopicPartition(route.target, offset % route.target_partitions),
            f"{name} {partition} {offset}",
            asked=at + number,
            answered=end_at - 3,
            transaction=name,
            outcome=sure,
            source=told.Source(route.group, TopicPartition(route.source, partition), offset),
        )
    offsets = {TopicPartition(route.source, each): offset + 1 for each, offset in begun.inputs}
    asked = at + len(begun.inputs) + 1
    passed = tuple(offsets.items())
    yield told.OffsetsSent(client, name, route.group, passed, asked, end_at - 2, sure)
    outcome = Outcome.OK if end == COMMITTED else Outcome.UNKNOWN
    yield told.Ended(client, name, end != ABORTED, end_at - 1, end_at, outcome)
