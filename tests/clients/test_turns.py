"""A case is tried again after a failure that is forgiven, and after no other."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.clients.client import ClientFailed
from tests.clients.turns import TRIES, Turns


class Case(NamedTuple):
    name: str
    failures: list[AssertionError]


def tried(case: Case, *forgives: type[AssertionError]) -> list[str]:
    tries: list[str] = []

    def attempt(client: str, case: Case, name: str) -> None:
        tries.append(f"{client} {name}")
        if case.failures:
            raise case.failures.pop()

    turns = Turns([("kcat", case)], attempt, forgives=forgives)
    try:
        turns.result("kcat", case)
    finally:
        turns.close()
    return tries


@pytest.mark.skipif(TRIES == 1, reason="in a soak nothing is tried again")
def test_what_is_forgiven_is_tried_again() -> None:
    case = Case("reads", [ClientFailed("it hung")])
    assert tried(case, ClientFailed) == ["kcat reads.1", "kcat reads.2"]


def test_what_is_not_forgiven_is_final() -> None:
    with pytest.raises(AssertionError, match="twice"):
        tried(Case("reads", [AssertionError("it was there twice")]), ClientFailed)


def test_of_itself_nothing_is_forgiven() -> None:
    with pytest.raises(ClientFailed, match="it hung"):
        tried(Case("reads", [ClientFailed("it hung")]))
