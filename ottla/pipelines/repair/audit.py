"""Proves from the ledger that every record in came out, was laid aside or was dropped by a rule.

A batch must follow on the one before it, without a gap and without reading anything twice; inside
it every minute of every partition must add up. The first batch that does not is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from ottla.pipelines.kafka import Place
from ottla.pipelines.reading.tally import Counts, Slot, Tally
from ottla.pipelines.repair.entry import AcceptedLoss, Entry
from ottla.pipelines.repair.losses import Loss

_LARGEST_CRC = 2**32 - 1
_WRAP = 2**64
# How many records there are in a place from one offset up to another; None: it cannot be known.
Recount = Callable[[Place, int, int], int | None]


class Fault(NamedTuple):
    batch: int
    sentence: str


@dataclass(slots=True)
class Gap:
    """Offsets that were read and held no record: ends of transactions, or compacted away."""

    offsets: int = 0
    unproven: int = 0  # of them, those that nobody counted again


@dataclass(slots=True)
class Findings:
    first_batch: int | None = None
    last_batch: int | None = None
    batches: int = 0
    came_in: Tally = field(default_factory=Tally)
    went_out: Tally = field(default_factory=Tally)  # of batches whose rows know their origin
    rows_out: int = 0
    filtered: int = 0  # by row-wise functions
    gaps: dict[Place, Gap] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)  # accepted ones, within these batches
    fault: Fault | None = None

    @property
    def holds(self) -> bool:
        return self.fault is None


def audit(
    entries: Iterable[Entry],
    accepted: Sequence[AcceptedLoss] = (),
    *,
    recount: Recount | None = None,
) -> Findings:
    """Of entries in their order; those after the first fault are not looked at."""
    findings = Findings()
    before: Entry | None = None
    for entry in entries:
        faults = _faults(entry, before, accepted, findings, recount)
        if (sentence := next(faults, None)) is not None:
            findings.fault = Fault(entry.batch, sentence)
            return findings
        _add(entry, findings)
        before = entry
    return findings


def _faults(
    entry: Entry,
    before: Entry | None,
    accepted: Sequence[AcceptedLoss],
    findings: Findings,
    recount: Recount | None,
) -> Iterator[str]:
    if before is not None:
        losses = [loss for each in accepted if each.batch == before.batch for loss in each.losses]
        findings.losses += losses
        yield from _breaks(before, entry, losses)
    yield from _sums(entry)
    yield from _spans(entry, findings, recount)
    yield from _outputs(entry)


def _breaks(before: Entry, entry: Entry, losses: Sequence[Loss]) -> Iterator[str]:
    if entry.batch != before.batch + 1:
        yield f"it follows batch {before.batch}: what is between them was not recorded"
    expected: dict[Place, int | None] = dict(before.ends)
    for loss in losses:
        expected[loss.place] = loss.goes_on_at
    for place in sorted({**expected, **entry.starts}):
        # A partition that was added is read from its first offset.
        wanted, start = expected.get(place, 0), entry.starts.get(place)
        if wanted == start:
            continue
        if start is None:
            yield f"{_name(place)}: it does not read on at {wanted:,}, nor anywhere else"
        elif wanted is None:
            yield f"{_name(place)}: it begins at {start:,}, though the partition was given up"
        elif start < wanted:
            again = f"though batch {before.batch} ended at {wanted:,}"
            yield f"{_name(place)}: it begins at {start:,}, {again}: read twice"
        else:
            gap = f"{start - wanted:,} offsets from {wanted:,} to {start - 1:,}"
            yield f"{_name(place)}: {gap} lie between batch {before.batch} and it: not read"


def _sums(entry: Entry) -> Iterator[str]:
    for slot, counts in sorted(entry.tally_in.counts.items()):
        dropped = sum(counts.dropped.values())
        removed = counts.dead + dropped
        if not counts.adds_up:
            yield (
                f"{_name(slot)}: {counts.records_in:,} in, but {counts.passed:,} passed + "
                f"{counts.dead:,} dead + {dropped:,} dropped = {counts.passed + removed:,}"
            )
        if min(counts.records_in, counts.passed, counts.dead, *counts.dropped.values()) < 0:
            yield f"{_name(slot)}: a count is below zero: {counts}"
        # Each record that was removed has taken one checksum with it.
        if (counts.key_sum - counts.passed_sum) % _WRAP > removed * _LARGEST_CRC:
            yield (
                f"{_name(slot)}: the keys of the records in sum up to {counts.key_sum}, those of "
                f"the passed to {counts.passed_sum}, and {removed:,} removed do not explain it"
            )


def _spans(entry: Entry, findings: Findings, recount: Recount | None) -> Iterator[str]:
    counted: dict[Place, int] = dict.fromkeys(entry.starts, 0)
    topics = dict.fromkeys(topic for topic, _ in entry.starts)
    for slot, counts in sorted(entry.tally_in.counts.items()):
        if slot[:2] in counted:
            counted[slot[:2]] += counts.records_in
        elif slot.topic in topics:
            yield f"{_name(slot)}: records of a partition that it did not read"
    for place, records in counted.items():
        start, end = entry.starts[place], entry.ends.get(place, -1)
        if end < start or records > end - start:
            yield f"{_name(place)}: {records:,} records in from offset {start:,} up to {end:,}"
        elif records < end - start:
            there = None if recount is None else recount(place, start, end)
            if there is not None and there != records:
                yield (
                    f"{_name(place)}: {records:,} records in from offset {start:,} up to {end:,}, "
                    f"where there are {there:,}"
                )
            gap = findings.gaps.setdefault(place, Gap())
            gap.offsets += end - start - records
            gap.unproven += 0 if there is not None else end - start - records


def _outputs(entry: Entry) -> Iterator[str]:
    if entry.tally_out is None or not (entry.is_row_wise or entry.is_row_preserving):
        return
    total = entry.tally_out.total().passed
    if entry.rows_out not in (None, total):
        yield f"{entry.rows_out:,} rows were written, and the function made {total:,}"
    slots = {**entry.tally_in.counts, **entry.tally_out.counts}
    for slot in sorted(slots):
        came = entry.tally_in.counts.get(slot, Counts())
        went = entry.tally_out.counts.get(slot, Counts())
        if not 0 <= went.passed <= came.passed:
            yield f"{_name(slot)}: {came.passed:,} passed, and {went.passed:,} rows came of them"
        if not entry.is_row_preserving:
            continue
        if went.passed != came.passed:
            yield f"{_name(slot)}: {came.passed:,} passed, and only {went.passed:,} rows came out"
        if (went.passed_sum - came.passed_sum) % _WRAP:
            yield (
                f"{_name(slot)}: the keys of what passed sum up to {came.passed_sum}, those of "
                f"the rows out to {went.passed_sum}: other keys came out"
            )


def _add(entry: Entry, findings: Findings) -> None:
    if findings.first_batch is None:
        findings.first_batch = entry.batch
    findings.last_batch = entry.batch
    findings.batches += 1
    findings.came_in.merge(entry.tally_in)
    findings.rows_out += entry.rows_out or 0
    if entry.tally_out is not None:
        findings.went_out.merge(entry.tally_out)
        if entry.is_row_wise or entry.is_row_preserving:
            passed = entry.tally_in.total().passed
            findings.filtered += passed - entry.tally_out.total().passed


def _name(where: Place | Slot) -> str:
    if isinstance(where, Slot):
        minute = datetime.fromtimestamp(where.minute * 60, UTC)
        return f"{where.topic}:{where.partition} at {minute:%Y-%m-%dT%H:%MZ}"
    return f"{where[0]}:{where[1]}"
