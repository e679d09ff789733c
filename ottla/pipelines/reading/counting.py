"""Counts a batch of records into a tally: each record in the slot of its partition and minute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ottla.pipelines.declaration import Otherwise
from ottla.pipelines.reading.tally import MINUTE_MS, Slot, Tally
from ottla.pipelines.reading.verdict import Verdict

_MINUTE_US = MINUTE_MS * 1000


class Slots:
    """Which slot each record of a batch belongs to; mostly all of them to one or two."""

    def __init__(self, *, topic: Any, partition: Any, timestamp: Any, key_crc: Any) -> None:
        topics = topic.dictionary_encode()
        minutes = timestamp.cast(pa.int64()).fill_null(0).to_numpy() // _MINUTE_US
        columns = (topics.indices.to_numpy(), partition.to_numpy(), minutes)
        firsts, self._codes = _distinct(columns)
        names = topics.dictionary.to_pylist()
        self._slots = [
            Slot(names[columns[0][at]], int(columns[1][at]), int(minutes[at])) for at in firsts
        ]
        self._key_crc = key_crc.to_numpy()

    def count(self, where: Any = slice(None)) -> list[tuple[Slot, int, int]]:
        """How many there are of a slot, and the sum of their keys' checksums."""
        codes = self._codes[where]
        counts = np.bincount(codes, minlength=len(self._slots))
        sums = np.zeros(len(self._slots), dtype=np.int64)
        np.add.at(sums, codes, self._key_crc[where])
        return list(zip(self._slots, counts.tolist(), sums.tolist(), strict=True))


def _distinct(columns: Sequence[Any]) -> tuple[list[int], Any]:
    """Where each combination is found first, and which one each record has."""
    places = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        lowest = column.min(initial=0)
        places = places * (int(column.max(initial=0)) - int(lowest) + 1) + (column - lowest)
    if (places == places[:1]).all():  # mostly; and sorting is what costs
        return ([0] if len(places) else []), np.zeros(len(places), dtype=np.int64)
    _, firsts, codes = np.unique(places, return_index=True, return_inverse=True)
    return firsts.tolist(), codes


def count(tally: Tally, slots: Slots, verdict: Verdict) -> None:
    for slot, records, key_sum in slots.count():
        counts = tally.at(slot)
        counts.records_in += records
        counts.key_sum += key_sum
    count_passed(tally, slots, verdict.passed if verdict.removed else slice(None))
    count_exceptions(tally, slots, verdict)


def count_passed(tally: Tally, slots: Slots, where: Any = slice(None), *, sign: int = 1) -> None:
    for slot, records, key_sum in slots.count(where):
        counts = tally.at(slot)
        counts.passed += sign * records
        counts.passed_sum += sign * key_sum


def count_exceptions(tally: Tally, slots: Slots, verdict: Verdict) -> None:
    for removed in verdict.removed:
        for slot, records, _ in slots.count(removed.indexes):
            if removed.otherwise is Otherwise.DEAD_LETTER:
                tally.at(slot).dead += records
            else:
                _add(tally.at(slot).dropped, removed.rule, records)
    for rule, indexes in verdict.warned.items():
        for slot, records, _ in slots.count(indexes):
            _add(tally.at(slot).warned, rule, records)


def _add(counts: dict[str, int], rule: str, records: int) -> None:
    if records:
        counts[rule] = counts.get(rule, 0) + records
