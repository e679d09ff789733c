"""Tallies add up, and come back from JSON as they were."""

from __future__ import annotations

import json

from ottla.pipelines.reading.tally import Counts, Slot, Tally

SLOT = Slot("views", 0, 28_333_334)


def test_tallies_of_tasks_are_added_up_slot_by_slot() -> None:
    total = Tally({SLOT: Counts(3, 1, 1, {"a": 1}, {"w": 1}, 10, 4)})
    other = Slot("views", 1, 28_333_334)
    total.merge(Tally({SLOT: Counts(2, 1, 0, {"a": 1}, {}, 5, 2), other: Counts(1, 1)}))
    assert total.counts == {
        SLOT: Counts(5, 2, 1, {"a": 2}, {"w": 1}, 15, 6),
        other: Counts(1, 1),
    }
    assert total.total().records_in == 6


def test_what_is_taken_back_is_counted_below_zero() -> None:
    total = Tally({SLOT: Counts(2, 2, key_sum=9, passed_sum=9)})
    total.merge(Tally({SLOT: Counts(passed=-1, dead=1, passed_sum=-4)}))
    assert total.counts[SLOT] == Counts(2, 1, 1, key_sum=9, passed_sum=5)
    assert total.counts[SLOT].adds_up


def test_a_record_that_went_nowhere_shows() -> None:
    assert Counts(3, 1, 1, {"a": 1}, {"warned of": 9}).adds_up
    assert not Counts(3, 1, 1).adds_up


def test_sums_of_checksums_keep_64_bits() -> None:
    total = Counts(key_sum=2**64 - 1)
    total.add(Counts(key_sum=3))
    assert total.key_sum == 2


def test_it_comes_back_from_json_and_equal_ones_look_alike() -> None:
    first, second = Slot("a", 0, 1), Slot("b", 0, 1)
    tally = Tally({second: Counts(1, dropped={"y": 1, "x": 2}), first: Counts(2, 1, 1)})
    text = json.dumps(tally.to_json())
    assert Tally.from_json(json.loads(text)) == tally
    turned = Tally({first: Counts(2, 1, 1), second: Counts(1, dropped={"x": 2, "y": 1})})
    assert json.dumps(turned.to_json()) == text
