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
# Partition and minute in one number, which is cheaper to carry: see `place`. Every minute fits that
# a timestamp can have, even of a producer that takes microseconds for milliseconds.
PARTITION_BITS = 24


def place(partition: Any, timestamp: Any) -> Any:
    """A numpy array of what `Slots` wants, of Arrow's columns."""
    minutes = timestamp.cast(pa.int64()).fill_null(0).to_numpy() // _MINUTE_US
    return (minutes << PARTITION_BITS) | partition.to_numpy()


class Slots:
    """Which slot each record of a batch belongs to; mostly all of them to one or two."""

    def __init__(self, *, topic: Any, place: Any, key_crc: Any) -> None:
        """`topic`: of each, or the name of the only one."""
        places, codes = _numbered(place)
        if isinstance(topic, str):
            slots = [(topic, each) for each in places.tolist()]
        else:
            topics = topic.dictionary_encode()
            names = topics.dictionary.to_pylist()
            found, codes = _numbered(codes * len(names) + topics.indices.to_numpy())
            pairs = [divmod(each, len(names)) for each in found.tolist()]
            slots = [(names[name], int(places[at])) for at, name in pairs]
        self._slots = [_slot(*each) for each in slots]
        self._codes = codes
        self._key_crc = key_crc

    def count(self, where: Any = slice(None)) -> list[tuple[Slot, int, int]]:
        """How many there are of a slot, and the sum of their keys' checksums."""
        codes, key_crc = self._codes[where], self._key_crc[where]
        if len(self._slots) == 1:
            return [(self._slots[0], len(codes), int(key_crc.sum()))]
        counts = np.bincount(codes, minlength=len(self._slots))
        # In halves: weights are floating, and exact only up to 53 bits.
        low, high = (
            np.bincount(codes, half, minlength=len(self._slots)).astype(np.int64)
            for half in (key_crc & 0xFFFF, key_crc >> 16)
        )
        sums = low + (high << 16)
        return list(zip(self._slots, counts.tolist(), sums.tolist(), strict=True))


def _slot(topic: str, place: int) -> Slot:
    return Slot(topic, place & ((1 << PARTITION_BITS) - 1), place >> PARTITION_BITS)


def _numbered(values: Any) -> tuple[Any, Any]:
    """The distinct ones, and which of them each is."""
    if (values == values[:1]).all():  # mostly; and sorting is what costs
        return values[:1], np.zeros(len(values), dtype=np.int64)
    return np.unique(values, return_inverse=True)


def count(tally: Tally, slots: Slots, verdict: Verdict) -> None:
    found = slots.count()
    for slot, records, key_sum in found:
        counts = tally.at(slot)
        counts.records_in += records
        counts.key_sum += key_sum
    count_passed(tally, slots.count(verdict.passed) if verdict.removed else found)
    count_exceptions(tally, slots, verdict)


def count_passed(tally: Tally, counted: Sequence[tuple[Slot, int, int]], *, sign: int = 1) -> None:
    for slot, records, key_sum in counted:
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
