"""What was lost before it was read, given where a pipeline goes on and what the topics hold now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ottla.pipelines.kafka import KnownTopic, Place


class Cause(StrEnum):
    DELETED = "deleted before it was read"
    RECREATED = "the topic was deleted and made anew"
    TRUNCATED = "the log ends before where the pipeline goes on"
    NO_PARTITION = "the partition is gone"
    NO_TOPIC = "the topic is gone"


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets from `start` up to `end` of one partition, or more of them than is known."""

    topic: str
    partition: int
    start: int  # where the pipeline would have gone on
    end: int
    cause: Cause
    goes_on_at: int | None  # if the loss is accepted; None: the partition is no longer there
    after_ms: int | None = None  # the minute of the last record that was read, if it is known
    before_ms: int | None = None  # the first record that is left

    @property
    def place(self) -> Place:
        return (self.topic, self.partition)

    @property
    def count(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        least = "" if self.cause is Cause.DELETED else "at least "
        about = f"offsets {self.start:,} to {self.end - 1:,} ({least}{self.count:,}{self._times()})"
        if not self.count:
            about = f"it had been read to offset {self.start:,}, its last known end{self._times()}"
        return f"{self.topic}:{self.partition}: {self.cause}: {about}"

    def _times(self) -> str:
        after = f", after {_moment(self.after_ms)}" if self.after_ms is not None else ""
        before = f", before {_moment(self.before_ms)}" if self.before_ms is not None else ""
        return after + before

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "cause": self.cause.name}

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Loss:
        return Loss(**{**told, "cause": Cause[told["cause"]]})


@dataclass(frozen=True, slots=True)
class Sight:
    """The topics at one moment."""

    topics: Mapping[str, KnownTopic] = field(default_factory=dict)  # those that there are
    starts: Mapping[Place, int] = field(default_factory=dict)
    ends: Mapping[Place, int] = field(default_factory=dict)


CHOICES = (
    "accept: go on behind the loss, which the ledger keeps",
    "reset: forget the checkpoint and read what there is from its start",
    "restore: bring the records or the topic back, and start again",
)


class DataLoss(Exception):
    """Records are gone that were never read. Only an operator can say how to go on."""

    def __init__(self, losses: Sequence[Loss]) -> None:
        self.losses = tuple(losses)
        lines = [f"Records are gone that the pipeline has not read: {_total(losses)}."]
        lines += [f"  {loss}" for loss in losses]
        lines += ["The choices:", *(f"  {choice}" for choice in CHOICES)]
        super().__init__("\n".join(lines))


def find_losses(next_offsets: Mapping[Place, int], *, kept: Sight, seen: Sight) -> list[Loss]:
    """Of the places that are read, and of partitions that were added to their topics."""
    places = sorted([*next_offsets, *_added(next_offsets, kept=kept, seen=seen)])
    found = (_loss(place, next_offsets.get(place, 0), kept=kept, seen=seen) for place in places)
    return [loss for loss in found if loss is not None]


def _added(next_offsets: Mapping[Place, int], *, kept: Sight, seen: Sight) -> list[Place]:
    """Spark reads a partition that appears from offset 0, wherever it began to read the others."""
    names = sorted(dict.fromkeys(topic for topic, _ in next_offsets))
    return [
        (name, partition)
        for name in names
        if name in kept.topics and name in seen.topics
        for partition in range(kept.topics[name].partitions, seen.topics[name].partitions)
        if (name, partition) not in next_offsets
    ]


def _loss(place: Place, start: int, *, kept: Sight, seen: Sight) -> Loss | None:
    topic, partition = place
    # Of a log that is no longer there only its last known end can be told.
    end = max(start, kept.ends.get(place, start))
    if topic not in seen.topics:
        return Loss(topic, partition, start, end, Cause.NO_TOPIC, None)
    if partition >= seen.topics[topic].partitions:
        return Loss(topic, partition, start, end, Cause.NO_PARTITION, None)
    first = seen.starts[place]
    before, now = kept.topics.get(topic), seen.topics[topic]
    if before is not None and before.id and now.id and before.id != now.id:
        return Loss(topic, partition, start, end, Cause.RECREATED, first)
    if seen.ends[place] < start:
        if now.id:
            return Loss(topic, partition, start, end, Cause.TRUNCATED, seen.ends[place])
        # Without ids it may be either; only a topic made anew holds records that were not read.
        return Loss(topic, partition, start, end, Cause.RECREATED, first)
    if first > start:
        return Loss(topic, partition, start, first, Cause.DELETED, first)
    return None


def _total(losses: Sequence[Loss]) -> str:
    count = sum(loss.count for loss in losses)
    is_exact = all(loss.cause is Cause.DELETED for loss in losses)
    partitions = f"{len(losses)} partition{'s' * (len(losses) > 1)}"
    return f"{'' if is_exact else 'at least '}{count:,} in {partitions}"


def _moment(timestamp_ms: int) -> str:
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
