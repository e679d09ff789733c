"""Where replicas go: Kafka's own examples, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.controller.placement import (
    Assignment,
    Candidate,
    check_expansion,
    check_manual,
    expand,
    place,
)
from ottla.protocol.errors import ErrorCode, KafkaError

FIVE = [Candidate(broker) for broker in range(5)]
RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
SIX_IN_RACKS = [Candidate(broker, rack) for broker, rack in RACKS.items()]


def placed(candidates: list[Candidate], *, partitions: int, factor: int) -> list[tuple[int, ...]]:
    assignment = place(
        candidates, partitions=partitions, replication_factor=factor, start_index=0, shift=0
    )
    assert list(assignment) == list(range(partitions))
    return list(assignment.values())


def test_followers_are_shifted_once_a_round() -> None:
    assert placed(FIVE, partitions=10, factor=3) == [
        (0, 1, 2),
        (1, 2, 3),
        (2, 3, 4),
        (3, 4, 0),
        (4, 0, 1),
        (0, 2, 3),
        (1, 3, 4),
        (2, 4, 0),
        (3, 0, 1),
        (4, 1, 2),
    ]


def test_racks_alternate() -> None:
    assert placed(SIX_IN_RACKS, partitions=7, factor=3) == [
        (0, 3, 1),
        (3, 1, 5),
        (1, 5, 4),
        (5, 4, 2),
        (4, 2, 0),
        (2, 0, 3),
        (0, 4, 2),
    ]


def test_the_start_is_drawn() -> None:
    two = [Candidate(0), Candidate(1)]
    assert place(two, partitions=2, replication_factor=1, start_index=1, shift=0) == {
        0: (1,),
        1: (0,),
    }


@given(
    brokers=st.integers(1, 12),
    racks=st.integers(1, 4),
    factor=st.integers(1, 12),
    start=st.integers(0, 11),
    shift=st.integers(0, 11),
)
def test_every_partition_has_its_replicas_on_different_brokers_and_racks(
    brokers: int, racks: int, factor: int, start: int, shift: int
) -> None:
    factor = min(factor, brokers)
    candidates = [Candidate(broker, f"rack{broker % racks}") for broker in range(brokers)]
    used = min(racks, brokers)
    assignment = place(
        candidates, partitions=20, replication_factor=factor, start_index=start, shift=shift
    )
    for replicas in assignment.values():
        assert len(set(replicas)) == factor
        assert len({broker % racks for broker in replicas}) == min(used, factor)


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, ErrorCode.INVALID_PARTITIONS),
        (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 6, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_impossible_sizes_are_refused(partitions: int, factor: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        placed(FIVE, partitions=partitions, factor=factor)
    assert refused.value.code == code


def test_racks_are_for_all_or_for_none() -> None:
    with pytest.raises(KafkaError, match=r"set broker\.rack on 1"):
        placed([Candidate(0, "a"), Candidate(1)], partitions=1, factor=1)


def test_a_topic_grows_from_where_it_began() -> None:
    two = [Candidate(0), Candidate(1)]
    assert expand(two, {0: (1,), 1: (0,)}, add=1) == {2: (1,)}  # as Kafka 3.9.1 did
    assert expand(FIVE, {0: (3, 4)}, add=2) == {1: (4, 3), 2: (0, 4)}
    assert expand(two, {0: (7,)}, add=1) == {1: (1,)}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ({0: (1, 2), 1: (1,)}, "All partitions should have the same number of replicas"),
        ({0: (1, 1)}, "Duplicate replica assignment found: 0: [1, 1]"),
        ({1: (1,)}, "partitions should be a consecutive 0-based integer sequence"),
        ({0: (1,), -1: (1,)}, "partitions should be a consecutive 0-based integer sequence"),
        ({0: ()}, "Cannot have replication factor of 0 for partition id 0."),
    ],
)
def test_a_contradictory_assignment_is_refused(assignment: Assignment, message: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_manual(assignment)
    assert refused.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.value.detail == message


@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        ((), "Cannot have replication factor of 0 for partition id 3."),
        ((1, 1), "Duplicate brokers not allowed in replica assignment: 1, 1 for partition id 3."),
        (
            (1, 9),
            "Some brokers specified for partition id 3 are not available. "
            "Specified brokers: 1, 9, available brokers: 1, 2.",
        ),
    ],
)
def test_an_expansion_that_does_not_fit_is_refused(replicas: tuple[int, ...], message: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_expansion({3: replicas}, replication_factor=2, live=[1, 2])
    assert refused.value.detail == message


def test_what_fits_is_not_refused() -> None:
    check_manual({0: (1, 2), 1: (2, 1)})
    check_expansion({2: (2, 1)}, replication_factor=2, live=[1, 2])
