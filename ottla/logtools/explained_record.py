"""A record with what compaction would do to it, and the sums over many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.protocol.records.record import Record
from ottla.storage.verdict import RecordFate, Verdict


class ExplainedRecord(NamedTuple):
    """One record and its fate. The detail is an offset, a time in ms, or nothing."""

    offset: int
    timestamp: int
    key: bytes | None  # a transaction marker has none
    value_bytes: int | None  # None: a tombstone
    size_bytes: int  # of key, value and headers, before compression
    is_marker: bool
    verdict: Verdict
    detail: int | None


@dataclass(slots=True)
class Totals:
    """Grows while the records are told; complete when they all were."""

    bytes_now: int = 0
    bytes_after: int = 0
    segments_now: int = 0
    segments_after: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)

    @property
    def kept(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if verdict.keeps)

    @property
    def dropped(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if not verdict.keeps)

    @property
    def ratio(self) -> float:
        """What part of the bytes is left."""
        return self.bytes_after / self.bytes_now if self.bytes_now else 1.0


def explained(
    records: Sequence[Record], fates: Iterable[RecordFate], *, are_markers: bool
) -> Iterator[ExplainedRecord]:
    """Record by record; of several in a control batch only the one that has a fate."""
    by_offset = {fate.offset: fate for fate in fates}
    for record in records:
        if (fate := by_offset.get(record.offset)) is not None:
            yield ExplainedRecord(
                record.offset,
                record.timestamp,
                fate.key,
                None if record.value is None else len(record.value),
                _size_bytes(record),
                are_markers,
                fate.verdict,
                fate.detail,
            )


def _size_bytes(record: Record) -> int:
    size = len(record.key or b"") + len(record.value or b"")
    for name, value in record.headers:
        size += len(name.encode()) + len(value or b"")
    return size
