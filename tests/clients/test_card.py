"""The conformance card is of the clients and features that there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.clients.card import CLIENTS, FEATURES, Cell, features_of, rendered
from tests.clients.groups.roster import ROSTER as GROUP_ROSTER
from tests.clients.groups.roster import Entry
from tests.clients.groups.scenarios import SCENARIOS as GROUP_SCENARIOS
from tests.clients.roster import ROSTER
from tests.clients.transactions.roster import ROSTER as TRANSACTION_ROSTER
from tests.clients.transactions.scenarios import SCENARIOS as TRANSACTION_SCENARIOS

CARD = Path(__file__).parents[2] / "docs" / "CONFORMANCE.md"


def rows() -> dict[str, list[str]]:
    lines = CARD.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    return {feature: results for feature, *results in cells}


def test_every_client_has_a_column() -> None:
    assert rows()["feature"] == CLIENTS
    assert [entry.name for entry in ROSTER if entry.name not in CLIENTS] == []


@pytest.mark.parametrize("roster", [GROUP_ROSTER, TRANSACTION_ROSTER])
def test_the_card_shows_what_each_client_can(roster: Sequence[Entry]) -> None:
    for entry in roster:
        index = CLIENTS.index(entry.name)
        shown = {feature for feature in FEATURES if rows()[feature][index] == "yes"}
        assert set(entry.abilities) <= shown, entry.name


@pytest.mark.parametrize(
    ("roster", "scenarios"),
    [(GROUP_ROSTER, GROUP_SCENARIOS), (TRANSACTION_ROSTER, TRANSACTION_SCENARIOS)],
)
def test_each_ability_is_proved_by_a_scenario(
    roster: Sequence[Entry], scenarios: Sequence[Any]
) -> None:
    for entry in roster:
        proved = {
            cell.feature
            for scenario in scenarios
            if scenario.proves[0] in entry.abilities
            for cell in features_of("", {"name": entry.name, "scenario": scenario})
        }
        assert proved == set(entry.abilities)


def test_a_failure_is_seen_on_the_card() -> None:
    cell = Cell("sarama", FEATURES[0])
    assert "**no**" in rendered({cell: "failed"})
    assert "not run" in rendered({cell: "skipped"})
