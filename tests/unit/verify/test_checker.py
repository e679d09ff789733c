"""Good histories of a small model have no findings; each fault put into one is found."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.verify.checker import check
from ottla.verify.encoding import from_lines, to_lines
from ottla.verify.findings import MOST_TOLD, Kind
from ottla.verify.history import FinalRead, History, Isolation, TopicPartition
from tests.unit.verify.faults import FAULTS, Fault
from tests.unit.verify.model import World

_SEEDS = st.integers(min_value=0, max_value=2**32)
_ATTEMPTS = 40


@settings(deadline=None)
@given(_SEEDS)
def test_a_good_history_has_no_findings(seed: int) -> None:
    assert check(World(seed).history()).findings == ()


@settings(deadline=None, max_examples=20)
@given(_SEEDS)
def test_a_good_history_of_clients_with_clocks_of_their_own_has_none_either(seed: int) -> None:
    history = World(seed).history()._replace(has_one_clock=False)
    assert check(history).findings == ()


@settings(deadline=None, max_examples=20)
@given(_SEEDS)
def test_a_history_without_its_end_accuses_nobody(seed: int) -> None:
    """Whoever stops recording early knows less, and nothing wrong."""
    events = World(seed).history().events
    finals = next(at for at, each in enumerate(events) if isinstance(each, FinalRead))
    for end in range(0, finals, 7):
        assert check(History(events[:end])).findings == ()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@settings(deadline=None, max_examples=25)
@given(seed=_SEEDS)
def test_each_fault_is_found(fault: Fault, seed: int) -> None:
    report = check(_with_fault(fault, seed))
    assert FAULTS[fault] in report.counts
    assert not report.is_clean


def _with_fault(fault: Fault, seed: int) -> History:
    """A history of the model that has a place for it."""
    for attempt in range(_ATTEMPTS):
        faulty = fault(World(seed + attempt, steps=120).history(), Random(seed))
        if faulty is not None:
            return faulty
    raise AssertionError(f"no history has a place for {fault.__name__}")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_each_finding_says_where_and_what(fault: Fault) -> None:
    for finding in check(_with_fault(fault, 5)).findings:
        assert finding.sentence.endswith(".")
        assert finding.sentence[0] not in "abcdefghijklmnopqrstuvwxyz"
        for part in (finding.transaction, finding.partition, finding.offset):
            assert part in (None, -1) or str(part) in finding.sentence


@settings(deadline=None, max_examples=20)
@given(_SEEDS)
def test_a_saved_history_is_the_same_history(seed: int) -> None:
    history = World(seed).history()
    assert from_lines(to_lines(history)) == history


def test_every_kind_has_a_fault_that_shows_it() -> None:
    assert set(FAULTS.values()) == set(Kind)


def test_many_findings_are_counted_and_the_first_told() -> None:
    records = tuple((offset, f"nobody's {offset}") for offset in range(3 * MOST_TOLD))
    final = FinalRead(TopicPartition("t", 0), Isolation.READ_COMMITTED, records)
    report = check(History((final,)))
    assert report.counts == {Kind.INVENTED: 3 * MOST_TOLD}
    assert len(report.findings) == MOST_TOLD
