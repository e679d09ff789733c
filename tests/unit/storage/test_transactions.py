"""The index of aborted transactions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.files import CorruptLog
from ottla.storage.transactions import (
    ENTRY_BYTES,
    AbortedTransaction,
    aborted_in,
    count_below,
    parse_transaction_index,
)

ENTRIES = [
    AbortedTransaction(1, 0, 10, 11),
    AbortedTransaction(2, 5, 15, 13),
    AbortedTransaction(3, 18, 35, 25),
    AbortedTransaction(4, 32, 50, 40),
]


# Kafka 3.9.1's TransactionIndex was asked the same.
@pytest.mark.parametrize(
    ("start", "end", "producers", "is_complete"),
    [
        (0, 100, [1, 2, 3, 4], False),
        (0, 32, [1, 2, 3], True),
        (0, 35, [1, 2, 3, 4], True),
        (10, 35, [1, 2, 3, 4], True),
        (11, 35, [2, 3, 4], True),
        (20, 41, [3, 4], False),
        (9, 8, [1], True),
        (0, 5, [1], True),
        (51, 100, [], False),
    ],
)
def test_a_fetch_hears_of_the_aborted_transactions_it_reaches(
    start: int, end: int, producers: list[int], is_complete: bool
) -> None:
    found, complete = aborted_in(ENTRIES, fetch_offset=start, upper_bound=end)
    assert [entry.producer_id for entry in found] == producers
    assert complete == is_complete


def test_cutting_a_log_cuts_the_index_at_the_first_marker_that_goes() -> None:
    counts = [count_below(ENTRIES, offset) for offset in (51, 50, 49, 15, 10)]
    assert counts == [4, 3, 3, 1, 0]


@given(st.lists(st.tuples(*[st.integers(0, (1 << 63) - 1)] * 4), max_size=5))
def test_entries_survive(values: list[tuple[int, int, int, int]]) -> None:
    entries = [AbortedTransaction(p, min(a, b), max(a, b), lso) for p, a, b, lso in values]
    data = b"".join(entry.encode() for entry in entries)
    assert len(data) == ENTRY_BYTES * len(entries)
    assert parse_transaction_index(data, "x") == entries


def test_broken_entries_are_refused_where_they_are() -> None:
    whole = ENTRIES[0].encode() + ENTRIES[1].encode()
    broken = {
        whole[:-1]: 34,
        whole[:34] + b"\0\1" + whole[36:]: 34,
        whole + AbortedTransaction(1, 9, 8, 9).encode(): 68,
    }
    for data, position in broken.items():
        with pytest.raises(CorruptLog) as refusal:
            parse_transaction_index(data, "x")
        assert refusal.value.position == position


def test_an_entry_from_before_its_segment_is_refused() -> None:
    data = ENTRIES[0].encode()
    assert parse_transaction_index(data, "x", base_offset=10) == ENTRIES[:1]
    with pytest.raises(CorruptLog, match="from 0 to 10"):
        parse_transaction_index(data, "x", base_offset=11)
