"""Compares two topics minute by minute: how many records, and the sum of their keys' checksums.

Minutes are of the records' timestamps, so a copy agrees with what it was copied from wherever its
partitions are. Only committed records count.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable
from typing import NamedTuple

from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.reading.tally import MINUTE_MS
from ottla.pipelines.topic_records import places_of, read_records

EVER_MS = -1  # a record without a time has this one
FOREVER_MS = 2**63
_WRAP = 2**64
_TELL_EVERY = 1_000
Progress = Callable[[int], None]  # records read so far


class Summary(NamedTuple):
    records: int = 0
    key_sum: int = 0  # of CRC-32, modulo 2**64; a missing key counts as 0

    def plus(self, other: Summary) -> Summary:
        key_sum = (self.key_sum + other.key_sum) % _WRAP
        return Summary(self.records + other.records, key_sum)


Minutes = dict[int, Summary]  # by minute since 1970


class Difference(NamedTuple):
    minute: int
    left: Summary
    right: Summary


class Comparison(NamedTuple):
    left: Minutes
    right: Minutes

    @property
    def totals(self) -> tuple[Summary, Summary]:
        return total(self.left), total(self.right)

    @property
    def differences(self) -> list[Difference]:
        minutes = sorted({**self.left, **self.right})
        none = Summary()
        pairs = [(at, self.left.get(at, none), self.right.get(at, none)) for at in minutes]
        return [Difference(at, left, right) for at, left, right in pairs if left != right]


def compare_topics(
    cluster: Cluster,
    *,
    left: str,
    right: str,
    from_ms: int = EVER_MS,
    to_ms: int = FOREVER_MS,
    on_progress: Progress | None = None,
) -> Comparison:
    """Of records whose timestamps are in that time."""
    tell = on_progress or (lambda count: None)
    first = summarize(cluster, left, from_ms=from_ms, to_ms=to_ms, on_progress=tell)
    done = total(first).records
    second = summarize(
        cluster, right, from_ms=from_ms, to_ms=to_ms, on_progress=lambda count: tell(done + count)
    )
    return Comparison(first, second)


def summarize(
    cluster: Cluster, topic: str, *, from_ms: int, to_ms: int, on_progress: Progress
) -> Minutes:
    # Timestamps need not be in order: before the start there are none of that time or later, but
    # after the first that is too late there may be others that are not.
    found: dict[int, list[int]] = {}  # records and the sum of their keys
    for count, record in enumerate(read_records(cluster, _ranges(cluster, topic, from_ms)), 1):
        if from_ms <= record.timestamp_ms < to_ms:
            at = found.setdefault(record.timestamp_ms // MINUTE_MS, [0, 0])
            at[0] += 1
            at[1] += crc32(record.key or b"")
        if count % _TELL_EVERY == 0:
            on_progress(count)
    return {minute: Summary(each[0], each[1] % _WRAP) for minute, each in found.items()}


def recount(cluster: Cluster, place: Place, start: int, end: int) -> int | None:
    """How many committed records there are; None if some of the range was deleted meanwhile."""
    if place[0] not in cluster.topics([place[0]]) or cluster.starts([place])[place] > start:
        return None
    return sum(1 for _ in read_records(cluster, {place: (start, end)}))


def total(minutes: Minutes) -> Summary:
    whole = Summary()
    for summary in minutes.values():
        whole = whole.plus(summary)
    return whole


def _ranges(cluster: Cluster, topic: str, from_ms: int) -> dict[Place, tuple[int, int]]:
    places = places_of(cluster, topic)
    starts = cluster.offsets_at(places, from_ms) if from_ms > 0 else cluster.starts(places)
    ends = cluster.ends(places)
    return {place: (starts[place], ends[place]) for place in places}
