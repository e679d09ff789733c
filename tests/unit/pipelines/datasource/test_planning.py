"""Which offsets a batch takes, how tasks share them, and what of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.datasource.planning import (
    DataLost,
    Range,
    admit,
    beyond,
    losses,
    ranges,
    shrunken,
    split,
    what_is_left,
)

A, B, C = ("a", 0), ("a", 1), ("b", 0)
sizes = st.lists(st.integers(0, 10_000), min_size=1, max_size=8)


def test_a_batch_is_shared_in_proportion_to_what_waits() -> None:
    admitted = admit({A: 0, B: 100}, {A: 3000, B: 1100}, 400)
    assert admitted == {A: 299, B: 200}  # of 1 to 3, rounded down


def test_a_small_partition_need_not_wait_for_a_large_one() -> None:
    assert admit({A: 0, B: 0}, {A: 1_000_000, B: 3}, 100)[B] > 0


def test_what_fits_is_taken_whole() -> None:
    assert admit({A: 5, B: 0}, {A: 8, B: 4}, 100) == {A: 8, B: 4}


def test_a_new_partition_is_read_from_its_first_offset() -> None:
    assert admit({A: 50}, {A: 50, B: 7}, 100) == {A: 50, B: 7}
    assert ranges({A: 50}, {A: 50, B: 7}) == [Range("a", 1, 0, 7)]


def test_fewer_than_there_are_partitions_go_to_those_where_most_waits() -> None:
    assert admit({A: 0, B: 0, C: 0}, {A: 5, B: 9, C: 7}, 2) == {A: 0, B: 1, C: 1}


@given(sizes, st.integers(1, 10_000))
def test_a_batch_is_never_too_large_and_never_goes_back(waiting: list[int], most: int) -> None:
    start = {("t", number): 1000 + number for number in range(len(waiting))}
    ends = {place: start[place] + size for place, size in zip(start, waiting, strict=True)}
    admitted = admit(start, ends, most)
    taken = [admitted[place] - start[place] for place in ends]
    assert all(0 <= size <= there for size, there in zip(taken, waiting, strict=True))
    assert sum(taken) <= most
    assert sum(taken) > 0 or not any(waiting)
    if sum(waiting) <= most:
        assert admitted == ends


def test_an_empty_range_is_no_range() -> None:
    assert ranges({A: 5, B: 0}, {A: 5, B: 2}) == [Range("a", 1, 0, 2)]


def test_large_ranges_are_cut_into_pieces_of_at_most_so_many_records() -> None:
    pieces = split([Range("a", 0, 10, 35)], least_partitions=None, most_records=10)
    assert [(piece.start, piece.end) for piece in pieces] == [(10, 18), (18, 26), (26, 35)]


def test_more_tasks_than_partitions_share_the_large_ones() -> None:
    whole = [Range("a", 0, 0, 900), Range("a", 1, 0, 100)]
    pieces = split(whole, least_partitions=10, most_records=None)
    assert [piece.partition for piece in pieces] == [0] * 9 + [1]
    assert {piece.size for piece in pieces} == {100}


@given(sizes, st.integers(1, 20) | st.none(), st.integers(1, 5000) | st.none())
def test_pieces_are_the_ranges_again(
    waiting: list[int], least: int | None, most: int | None
) -> None:
    whole = [Range("t", number, 7, 7 + size) for number, size in enumerate(waiting) if size]
    pieces = split(whole, least_partitions=least, most_records=most)
    for each in whole:
        mine = [piece for piece in pieces if piece.partition == each.partition]
        edges = [mine[0].start, *(piece.end for piece in mine)]
        assert edges == sorted(edges)
        assert (edges[0], edges[-1]) == (each.start, each.end)
        assert [piece.start for piece in mine] == edges[:-1]
    assert all(piece.size > 0 for piece in pieces)
    if most:
        assert all(piece.size <= most for piece in pieces)
    if least:
        assert len(pieces) >= min(least, sum(waiting))


def test_what_was_deleted_before_it_was_read_is_named_exactly() -> None:
    wanted = [Range("a", 0, 100, 200), Range("a", 1, 0, 50)]
    lost = losses(wanted, {A: 130, B: 0})
    assert [str(each) for each in lost] == [
        "a-0: offsets 100 to 129: deleted before they were read"
    ]
    assert what_is_left(wanted, {A: 130, B: 0}) == [Range("a", 0, 130, 200), wanted[1]]


def test_a_whole_range_can_be_lost() -> None:
    wanted = [Range("a", 0, 100, 200)]
    assert str(losses(wanted, {A: 900})[0]).startswith("a-0: offsets 100 to 199: deleted")
    assert str(losses(wanted, {})[0]).startswith("a-0: offsets 100 to 199: the partition does not")
    assert what_is_left(wanted, {A: 900}) == what_is_left(wanted, {}) == []


def test_a_partition_that_ends_before_our_place_is_another_one() -> None:
    (lost,) = shrunken({A: 500, B: 20}, {A: 300, B: 20})
    assert str(lost) == (
        "a-0: from offset 500: the partition ends at offset 300: "
        "the topic was recreated or its log was truncated"
    )


def test_offsets_that_are_not_there_yet_are_named() -> None:
    (lost,) = beyond({A: 30, B: 5}, {A: 10, B: 5})
    assert str(lost) == "a-0: offsets 10 to 29: the partition ends at offset 10"


def test_all_losses_are_told_at_once_with_the_way_on() -> None:
    error = DataLost(losses([Range("a", 0, 0, 9), Range("b", 0, 3, 4)], {A: 2}))
    with pytest.raises(DataLost, match=r"a-0: offsets 0 to 1.*; b-0: offsets 3 to 3.*failOnDataL"):
        raise error
