"""Which offsets a batch takes, how tasks share them, and what of them is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ottla.pipelines.datasource.offsets import Offsets, Place


class Range(NamedTuple):
    """Offsets of one partition: from `start`, before `end`."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def admit(start: Mapping[Place, int], ends: Mapping[Place, int], most: int) -> Offsets:
    """Where a batch of at most so many offsets ends.

    Shares are as the partitions' backlogs, so that all are done at the same time. Each that has
    records gets one at least: a small one must not wait until a large one is done.
    """
    backlogs = {place: max(0, end - start.get(place, 0)) for place, end in ends.items()}
    waiting = sorted((p for p in backlogs if backlogs[p]), key=lambda p: -backlogs[p])[:most]
    spare = most - len(waiting)
    rest = sum(backlogs[place] - 1 for place in waiting)
    admitted = dict.fromkeys(backlogs, 0)
    for place in waiting:
        more = backlogs[place] - 1
        admitted[place] = 1 + (more if rest <= spare else more * spare // rest)
    return {place: start.get(place, 0) + admitted[place] for place in ends}


def ranges(start: Mapping[Place, int], end: Mapping[Place, int]) -> list[Range]:
    """Those in which there is something; a partition that `start` has not is read from 0."""
    found = (Range(*place, start.get(place, 0), until) for place, until in sorted(end.items()))
    return [each for each in found if each.size > 0]


def split(
    whole: Sequence[Range], *, least_partitions: int | None, most_records: int | None
) -> list[Range]:
    """So that no piece has more records than that, and there are at least so many pieces."""
    pieces = [
        piece
        for each in whole
        for piece in _cut(each, -(-each.size // most_records) if most_records else 1)
    ]
    if least_partitions is None or len(pieces) >= least_partitions:
        return pieces
    total = sum(each.size for each in pieces)
    # Rounded up: rather some more than too few.
    counts = [-(-each.size * least_partitions // total) for each in pieces]
    return [part for each, count in zip(pieces, counts, strict=True) for part in _cut(each, count)]


def _cut(whole: Range, count: int) -> list[Range]:
    """In as many parts of about the same size; none is empty."""
    count = min(count, whole.size)
    edges = [whole.start + whole.size * number // count for number in range(count + 1)]
    return [Range(whole.topic, whole.partition, begin, until) for begin, until in pairwise(edges)]


class Loss(NamedTuple):
    """Records that should be read and are not there any more; `end` is None if unknown."""

    topic: str
    partition: int
    start: int
    end: int | None
    why: str

    def __str__(self) -> str:
        lost = (
            f"from offset {self.start}"
            if self.end is None
            else (f"offsets {self.start} to {self.end - 1}")
        )
        return f"{self.topic}-{self.partition}: {lost}: {self.why}"


class DataLost(Exception):
    """Records that were to be read are not there."""

    def __init__(self, losses: Sequence[Loss]) -> None:
        lost = "; ".join(map(str, losses))
        super().__init__(f"records are lost: {lost}. To go on without them: failOnDataLoss=false")


DELETED = "deleted before they were read"
GONE = "the partition does not exist any more"


def losses(wanted: Sequence[Range], firsts: Mapping[Place, int]) -> list[Loss]:
    """`firsts` has the first offset of each partition that exists."""
    found = []
    for each in wanted:
        first = firsts.get((each.topic, each.partition))
        if first is None:
            found.append(Loss(*each, GONE))
        elif first > each.start:
            found.append(Loss(*each[:3], min(first, each.end), DELETED))
    return found


def shrunken(start: Mapping[Place, int], ends: Mapping[Place, int]) -> list[Loss]:
    """Partitions that end before where we are: it is another topic, or it was truncated."""
    why = "the partition ends at offset {}: the topic was recreated or its log was truncated"
    return [
        Loss(*place, offset, None, why.format(ends[place]))
        for place, offset in sorted(start.items())
        if place in ends and ends[place] < offset
    ]


def what_is_left(wanted: Sequence[Range], firsts: Mapping[Place, int]) -> list[Range]:
    left = []
    for each in wanted:
        first = firsts.get((each.topic, each.partition))
        if first is not None and first < each.end:
            left.append(each._replace(start=max(first, each.start)))
    return left


def beyond(end: Mapping[Place, int], ends: Mapping[Place, int]) -> list[Loss]:
    """What was asked for by number, and is not there (any more, or yet)."""
    why = "the partition ends at offset {}"
    return [
        Loss(*place, ends[place], offset, why.format(ends[place]))
        for place, offset in sorted(end.items())
        if ends[place] < offset
    ]
