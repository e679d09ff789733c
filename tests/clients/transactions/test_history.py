"""What loops told becomes a history in which the checker finds what is wrong, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.verify import history as told
from ottla.verify.checker import check
from ottla.verify.findings import Kind
from ottla.verify.history import Isolation, TopicPartition
from tests.clients.groups.python_member import Journal
from tests.clients.transactions.history import (
    ABORTED,
    BEGUN,
    COMMITTED,
    HANGING,
    UNSURE,
    Event,
    Journey,
    Route,
    written,
)

ROUTE = Route("loops", "in", "out", 2)
INPUTS = ((0, 0), (0, 1), (1, 0))


def faults(events: list[Event], *left: str) -> list[Kind]:
    """With these values in the target, all in partition 0 but those of odd offsets."""
    history = list(Journey(events).history(ROUTE))
    for place, value in enumerate(left):
        where = TopicPartition("out", int(value.split(" ")[2]) % 2)
        history.append(told.FinalRead(where, Isolation.READ_COMMITTED, ((place, value),)))
    for partition in (0, 1):
        where = TopicPartition("out", partition)
        history.append(told.FinalRead(where, Isolation.READ_COMMITTED, ()))
    return [each.kind for each in check(told.History(tuple(history))).findings]


def attempt(name: str, end: str | None) -> list[Event]:
    begun = Event("a", BEGUN, name, INPUTS)
    return [begun] if end is None else [begun, Event("a", end, name)]


def outputs(name: str) -> list[str]:
    return [f"{name} {partition} {offset}" for partition, offset in INPUTS]


def test_what_was_committed_is_there_once_and_whole() -> None:
    assert faults(attempt("a.1", COMMITTED), *outputs("a.1")) == []
    assert Kind.LOST_WRITE in faults(attempt("a.1", COMMITTED), *outputs("a.1")[1:])
    twice = [*attempt("a.1", COMMITTED), *attempt("a.2", COMMITTED)]
    assert Kind.TRANSFORMED_TWICE in faults(twice, *outputs("a.1"), *outputs("a.2"))


@pytest.mark.parametrize("end", [[Event("a", ABORTED, "a.1")], [Event("a", HANGING, "a.1")]])
def test_what_was_aborted_or_hung_is_not_there(end: list[Event]) -> None:
    events = [*attempt("a.1", None), *end]
    assert faults(events) == []
    assert Kind.ABORTED_READ in faults(events, *outputs("a.1"))


def test_a_commit_in_doubt_is_whole_or_absent() -> None:
    for events in (attempt("a.1", UNSURE), attempt("a.1", None)):
        assert faults(events) == []
        assert faults(events, *outputs("a.1")) == []
        assert Kind.TORN_TRANSACTION in faults(events, *outputs("a.1")[1:])


def test_a_journal_is_read_as_far_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, "a")
    journal.tell(BEGUN, attempt="a.1", inputs=INPUTS)
    journal.tell(HANGING, attempt="a.1")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"member": "a", "event": "commi')
    found = written(path)
    assert found.events == [Event("a", BEGUN, "a.1", INPUTS), Event("a", HANGING, "a.1")]
    assert found.hanging("a") == "a.1"
    assert found.hanging("b") is None
    assert found.outcome("a.1") is None
