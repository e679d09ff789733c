"""Leader epochs by hand; what Kafka says to random ones is in test_kafka_answers.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.storage.epochs import UNDEFINED, EpochEntry, LeaderEpochs

ASSIGNMENTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50)), max_size=12)


def three() -> LeaderEpochs:
    return LeaderEpochs([EpochEntry(2, 10), EpochEntry(4, 20), EpochEntry(7, 40)])


def test_an_epoch_begins_where_it_was_first_assigned() -> None:
    epochs = LeaderEpochs()
    assert epochs.assign(2, start_offset=10)
    assert not epochs.assign(2, start_offset=12)
    assert epochs.entries == ((2, 10),)
    assert epochs.latest == epochs.earliest == EpochEntry(2, 10)


def test_an_older_epoch_assigned_later_takes_the_newer_ones_with_it() -> None:
    epochs = three()
    assert epochs.assign(3, start_offset=50)
    assert epochs.entries == ((2, 10), (3, 50))


def test_an_epoch_that_wrote_nothing_is_replaced_by_the_next() -> None:
    epochs = three()
    assert epochs.assign(8, start_offset=40)
    assert epochs.entries == ((2, 10), (4, 20), (8, 40))


@given(ASSIGNMENTS)
def test_epochs_and_offsets_always_grow(assignments: list[tuple[int, int]]) -> None:
    epochs = LeaderEpochs()
    for epoch, start_offset in assignments:
        before = epochs.entries
        assert epochs.assign(epoch, start_offset=start_offset) == (epochs.entries != before)
        for left, right in zip(epochs.entries, epochs.entries[1:], strict=False):
            assert left.epoch < right.epoch
            assert left.start_offset < right.start_offset


def test_an_epoch_ends_where_the_next_begins_and_the_last_at_the_logs_end() -> None:
    ends = [three().end_offset_for(epoch, log_end_offset=100) for epoch in (2, 3, 4, 7)]
    assert ends == [(2, 20), (2, 20), (4, 40), (7, 100)]


def test_an_epoch_older_than_all_ends_where_the_log_begins() -> None:
    # Kafka 3.9.1; 2.0 answered -1, -1.
    assert three().end_offset_for(1, log_end_offset=100) == (1, 10)


def test_nothing_is_known_of_a_future_epoch() -> None:
    assert three().end_offset_for(8, log_end_offset=100) == UNDEFINED == (-1, -1)
    assert three().end_offset_for(-1, log_end_offset=100) == UNDEFINED
    assert LeaderEpochs().end_offset_for(0, log_end_offset=100) == UNDEFINED


@pytest.mark.parametrize(
    ("epoch", "offset", "expected"),
    [
        (7, 100, None),
        (7, 50, None),
        (4, 40, None),
        (4, 41, (4, 40)),
        (5, 30, (4, 40)),  # epoch 5 is not ours, wherever its records lie
        (2, 21, (2, 20)),
        (7, 101, (7, 100)),
        (1, 10, None),
        (1, 11, (1, 10)),
    ],
)
def test_a_fetcher_hears_where_its_log_parts_from_ours(
    epoch: int, offset: int, expected: tuple[int, int] | None
) -> None:
    found = three().divergence(last_fetched_epoch=epoch, fetch_offset=offset, log_end_offset=100)
    assert found == expected


def test_a_fetcher_from_the_future_is_out_of_range() -> None:
    with pytest.raises(KafkaError) as refusal:
        three().divergence(last_fetched_epoch=9, fetch_offset=50, log_end_offset=100)
    assert refusal.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_epochs_are_found_by_neighbour_and_by_offset() -> None:
    epochs = three()
    assert [epochs.previous_epoch(epoch) for epoch in (None, 2, 3, 99)] == [4, None, 2, 7]
    assert LeaderEpochs().previous_epoch() is None
    found = [epochs.epoch_for_offset(offset) for offset in (9, 10, 19, 20, 1000)]
    assert found == [None, 2, 2, 4, 7]


def test_cutting_the_end_takes_the_epochs_that_began_there() -> None:
    epochs = three()
    assert not epochs.truncate_from_end(41)
    assert epochs.truncate_from_end(40)
    assert epochs.entries == ((2, 10), (4, 20))
    assert epochs.truncate_from_end(0)
    assert epochs.latest is epochs.earliest is None


def test_cutting_the_start_moves_the_epoch_it_falls_into() -> None:
    epochs = three()
    assert not epochs.truncate_from_start(10)
    assert epochs.truncate_from_start(25)
    assert epochs.entries == ((4, 25), (7, 40))
    assert epochs.truncate_from_start(55)
    assert list(epochs.entries) == [(7, 55)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((2, 10, 19), ((2, 10), (4, 20), (6, 40))),  # as it is known
        ((4, 25, 30), ((2, 10), (4, 20), (6, 40))),  # its beginning may be compacted away
        ((4, 20, 44), ((2, 10), (4, 20))),  # no other leader wrote here
        ((2, 20, 30), ((2, 10),)),  # what was cut off is not known any more
        ((7, 45, 50), ((2, 10), (4, 20), (6, 40), (7, 45))),  # nor is what was not saved
        ((2, 5, 8), ((2, 5),)),
    ],
)
def test_what_is_found_in_the_log_is_believed(
    found: tuple[int, int, int], expected: tuple[tuple[int, int], ...]
) -> None:
    epochs = LeaderEpochs([EpochEntry(2, 10), EpochEntry(4, 20), EpochEntry(6, 40)])
    epoch, first_offset, last_offset = found
    epochs.follow(epoch, first_offset=first_offset, last_offset=last_offset)
    assert epochs.entries == expected
