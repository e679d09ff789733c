"""What the ledger keeps of one batch, and of a loss that was accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ottla.pipelines.kafka import Place
from ottla.pipelines.reading.tally import Tally
from ottla.pipelines.repair.losses import Loss

Offsets = Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class Entry:
    batch: int
    began_ms: int
    starts: Offsets  # where it began to read; empty if no source is a topic
    ends: Offsets  # where the next begins
    tally_in: Tally
    tally_out: Tally | None = None  # of rows that still know where they came from
    rows_out: int | None = None  # as the sink counted them; None: it cannot
    is_row_wise: bool = False  # the function makes at most one row of a record
    is_row_preserving: bool = False  # and exactly one, which keeps the record's key

    def to_json(self) -> dict[str, Any]:
        out = self.tally_out
        return {
            "batch": self.batch,
            "began_ms": self.began_ms,
            "starts": nested(self.starts),
            "ends": nested(self.ends),
            "in": self.tally_in.to_json(),
            "out": None if out is None else out.to_json(),
            "rows_out": self.rows_out,
            "is_row_wise": self.is_row_wise,
            "is_row_preserving": self.is_row_preserving,
        }

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Entry:
        return Entry(
            batch=told["batch"],
            began_ms=told["began_ms"],
            starts=flat(told["starts"]),
            ends=flat(told["ends"]),
            tally_in=Tally.from_json(told["in"]),
            tally_out=None if told["out"] is None else Tally.from_json(told["out"]),
            rows_out=told["rows_out"],
            is_row_wise=told["is_row_wise"],
            is_row_preserving=told["is_row_preserving"],
        )


@dataclass(frozen=True, slots=True)
class AcceptedLoss:
    """After this batch, the pipeline went on behind what was lost."""

    batch: int
    at_ms: int
    losses: tuple[Loss, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        losses = [loss.to_json() for loss in self.losses]
        return {"batch": self.batch, "at_ms": self.at_ms, "losses": losses}

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> AcceptedLoss:
        losses = tuple(map(Loss.from_json, told["losses"]))
        return AcceptedLoss(told["batch"], told["at_ms"], losses)


def nested(places: Offsets) -> dict[str, dict[str, int]]:
    """As Spark's connector writes offsets."""
    found: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(places.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def flat(topics: Mapping[str, Mapping[str, int]]) -> dict[Place, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in topics.items()
        for partition, offset in partitions.items()
    }
