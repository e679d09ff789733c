"""Index entries: relative on disk, absolute in memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.index_entries import (
    encode_offset_index,
    encode_time_index,
    parse_offset_index,
    parse_time_index,
)

OFFSETS = st.integers(0, (1 << 31) - 1)
TIMES = st.integers(-(1 << 63), (1 << 63) - 1)


def test_an_offset_entry_is_two_32_bit_numbers() -> None:
    data = encode_offset_index([(1_005, 4_200)], 1_000)
    assert data.hex() == "0000000500001068"
    assert parse_offset_index(data, 1_000) == [(1_005, 4_200)]


def test_a_time_entry_is_a_timestamp_and_a_relative_offset() -> None:
    data = encode_time_index([(1_700_000_000_000, 1_005)], 1_000)
    assert data.hex() == "0000018bcfe5680000000005"
    assert parse_time_index(data, 1_000) == [(1_700_000_000_000, 1_005)]


def test_bytes_that_fill_no_entry_are_left_out() -> None:
    assert parse_offset_index(bytes(15), 7) == [(7, 0)]
    assert parse_time_index(bytes(11), 7) == []


@given(base=st.integers(0, 1 << 62), entries=st.lists(st.tuples(OFFSETS, OFFSETS)))
def test_offset_entries_come_back(base: int, entries: list[tuple[int, int]]) -> None:
    absolute = [(base + relative, position) for relative, position in entries]
    assert parse_offset_index(encode_offset_index(absolute, base), base) == absolute


@given(base=st.integers(0, 1 << 62), entries=st.lists(st.tuples(TIMES, OFFSETS)))
def test_time_entries_come_back(base: int, entries: list[tuple[int, int]]) -> None:
    absolute = [(timestamp, base + relative) for timestamp, relative in entries]
    assert parse_time_index(encode_time_index(absolute, base), base) == absolute
