"""What the members of one group told, in order, and what must hold of it.

All members append to one file, each event with one write, so that the file is their common order:
who gives a partition up says so before he tells the broker.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

Partition: TypeAlias = tuple[str, int]
Position: TypeAlias = tuple[str, int, int]  # a record, or how far one has come

ASSIGNED, REVOKED, LOST, READ = "assigned", "revoked", "lost", "read"
COMMITTED, REFUSED, WOKEN, FAILED = "committed", "refused", "woken", "failed"
CLOSING, CLOSED = "closing", "closed"  # what is assigned between the two, nobody reads
GONE = "gone"  # written by the test itself: killed, or stopped for longer than its session
OVER = (REVOKED, LOST)
ALL_OVER = (CLOSING, GONE)


class Event(NamedTuple):
    member: str
    kind: str
    partitions: tuple[Partition, ...] = ()
    offsets: tuple[int, ...] = ()  # of the one partition that was read; of each that was committed
    generation: int | None = None  # where the client tells it
    text: str = ""


def parsed(line: str) -> Event:
    found = json.loads(line)
    return Event(
        member=found["member"],
        kind=found["event"],
        partitions=tuple((topic, partition) for topic, partition in found.get("partitions", ())),
        offsets=tuple(found.get("offsets", ())),
        generation=found.get("generation"),
        text=found.get("text", ""),
    )


def written(journal: Path) -> History:
    """What is there by now; a line that is being written waits for the next time."""
    text = journal.read_text(encoding="utf-8") if journal.exists() else ""
    return History(parsed(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))


class History:
    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)

    def of(self, member: str, *kinds: str) -> list[Event]:
        return [each for each in self.events if each.member == member and each.kind in kinds]

    def owned(self) -> dict[str, set[Partition]]:
        """By those who are there, at the end."""
        owned: dict[str, set[Partition]] = {}
        for owned, _ in self._moments():  # noqa: B007
            pass
        return {member: set(partitions) for member, partitions in owned.items()}

    def read(self) -> Counter[Position]:
        return Counter(
            (topic, partition, offset)
            for event in self.events
            if event.kind == READ
            for topic, partition in event.partitions
            for offset in event.offsets
        )

    def read_twice(self) -> list[Position]:
        return sorted(position for position, times in self.read().items() if times > 1)

    def committed(self) -> dict[Partition, int]:
        """The last offset that a member was told is stored."""
        return {
            partition: offset
            for event in self.events
            if event.kind == COMMITTED
            for partition, offset in zip(event.partitions, event.offsets, strict=True)
        }

    def owned_by_two(self, *, is_told_late: bool = False) -> list[str]:
        """Where one got a partition before the other had given it up. If it is told late, then
        where the other gave it up only after the one had something else to say than what it read.
        """
        return [
            f"{partition} of {other} was assigned to {event.member}"
            for index, (owned, event) in enumerate(self._moments())
            if event.kind == ASSIGNED
            for partition in event.partitions
            for other, others in owned.items()
            if other != event.member and partition in others
            if not (is_told_late and self._is_soon_over(partition, other, index))
        ]

    def _is_soon_over(self, partition: Partition, member: str, assigned: int) -> bool:
        for event in self.events[assigned + 1 :]:
            if event.member == member and event.kind in (*OVER, *ALL_OVER):
                return not event.partitions or partition in event.partitions
            if event.member == self.events[assigned].member and event.kind != READ:
                return False
        return False

    def given_up_in_vain(self, member: str) -> list[Event]:
        """Where the member gave up all it had, though others needed but some of it."""
        return [
            event
            for owned, event in self._moments()
            if event.member == member and event.kind == REVOKED
            if event.partitions and set(event.partitions) == owned.get(member)
        ]

    def two_in_one_generation(self) -> list[str]:
        """Whether or not the first had given it up; only of clients that tell the generation."""
        owners: dict[tuple[Partition, int], str] = {}
        found = []
        for event in self.events:
            if event.kind == ASSIGNED and event.generation is not None:
                for partition in event.partitions:
                    owner = owners.setdefault((partition, event.generation), event.member)
                    if owner != event.member:
                        found.append(f"{partition} of {owner} and {event.member} in {event}")
        return found

    def read_by_others(self) -> list[str]:
        """Records that a member read while it knew another to own their partition."""
        return [
            f"{event.member} read {event.partitions[0]}, owned by {other}"
            for owned, event in self._moments()
            if event.kind == READ and event.member in owned
            if event.partitions[0] not in owned[event.member]
            for other, others in owned.items()
            if event.partitions[0] in others
        ]

    def _moments(self) -> Iterator[tuple[dict[str, set[Partition]], Event]]:
        """Who owns what when each event happens; yielded before it takes effect, and at the end."""
        owned: dict[str, set[Partition]] = {}
        leaving: dict[str, None] = {}
        for event in self.events:
            yield owned, event
            if event.kind == ASSIGNED and event.member not in leaving:
                owned.setdefault(event.member, set()).update(event.partitions)
            elif event.kind in OVER:
                owned.get(event.member, set()).difference_update(event.partitions)
            elif event.kind in ALL_OVER:
                owned.pop(event.member, None)
            if event.kind == CLOSING:
                leaving[event.member] = None
            elif event.kind == CLOSED:
                leaving.pop(event.member, None)
        yield owned, Event("", "end")
