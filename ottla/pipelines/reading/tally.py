"""Counts of what became of records, by topic, partition and minute of their timestamps.

Tallies of a batch are added up; a stage that takes back what an earlier one let pass counts below
zero, so that the sum is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MINUTE_MS = 60_000
_WRAP = 2**64  # sums of checksums keep 64 bits


class Slot(NamedTuple):
    topic: str
    partition: int
    minute: int  # since 1970


@dataclass(slots=True)
class Counts:
    """in = passed + dead + what each rule dropped; a record that is warned of has passed."""

    records_in: int = 0
    passed: int = 0
    dead: int = 0
    dropped: dict[str, int] = field(default_factory=dict)  # by rule
    warned: dict[str, int] = field(default_factory=dict)
    key_sum: int = 0  # of the CRC-32 of the keys of all records in
    passed_sum: int = 0

    def add(self, other: Counts) -> None:
        self.records_in += other.records_in
        self.passed += other.passed
        self.dead += other.dead
        for ours, theirs in ((self.dropped, other.dropped), (self.warned, other.warned)):
            for rule, count in theirs.items():
                ours[rule] = ours.get(rule, 0) + count
        self.key_sum = (self.key_sum + other.key_sum) % _WRAP
        self.passed_sum = (self.passed_sum + other.passed_sum) % _WRAP

    @property
    def adds_up(self) -> bool:
        return self.records_in == self.passed + self.dead + sum(self.dropped.values())


@dataclass(slots=True)
class Tally:
    counts: dict[Slot, Counts] = field(default_factory=dict)

    def at(self, slot: Slot) -> Counts:
        return self.counts.setdefault(slot, Counts())

    def add(self, slot: Slot, counts: Counts) -> None:
        self.at(slot).add(counts)

    def merge(self, other: Tally) -> None:
        for slot, counts in other.counts.items():
            self.add(slot, counts)

    def total(self) -> Counts:
        total = Counts()
        for counts in self.counts.values():
            total.add(counts)
        return total

    def to_json(self) -> list[dict[str, Any]]:
        """In order of topic, partition and minute, so that equal tallies look alike."""
        return [
            {
                **slot._asdict(),
                "in": counts.records_in,
                "passed": counts.passed,
                "dead": counts.dead,
                "dropped": dict(sorted(counts.dropped.items())),
                "warned": dict(sorted(counts.warned.items())),
                "key_sum": counts.key_sum,
                "passed_sum": counts.passed_sum,
            }
            for slot, counts in sorted(self.counts.items(), key=lambda item: item[0])
        ]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> Tally:
        return cls(
            {
                Slot(row["topic"], row["partition"], row["minute"]): Counts(
                    row["in"],
                    row["passed"],
                    row["dead"],
                    dict(row["dropped"]),
                    dict(row["warned"]),
                    row["key_sum"],
                    row["passed_sum"],
                )
                for row in rows
            }
        )
