"""The conformance card is of the clients and features that there are."""

from __future__ import annotations

from pathlib import Path

from tests.clients.card import CLIENTS, FEATURES, Cell, features_of, rendered
from tests.clients.groups.roster import ROSTER as GROUP_ROSTER
from tests.clients.groups.scenarios import SCENARIOS
from tests.clients.roster import ROSTER

CARD = Path(__file__).parents[2] / "docs" / "CONFORMANCE.md"


def rows() -> dict[str, list[str]]:
    lines = CARD.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    return {feature: results for feature, *results in cells}


def test_every_client_has_a_column() -> None:
    assert rows()["feature"] == CLIENTS
    assert [entry.name for entry in ROSTER if entry.name not in CLIENTS] == []


def test_the_card_shows_what_each_client_can_in_groups() -> None:
    for index, entry in enumerate(GROUP_ROSTER):
        shown = {feature for feature in FEATURES if rows()[feature][index] == "yes"}
        assert set(entry.abilities) <= shown, entry.name


def test_each_ability_is_proved_by_a_scenario() -> None:
    for entry in GROUP_ROSTER:
        proved = {
            cell.feature
            for scenario in SCENARIOS
            if scenario.proves[0] in entry.abilities
            for cell in features_of("", {"name": entry.name, "scenario": scenario})
        }
        assert proved == set(entry.abilities)


def test_a_failure_is_seen_on_the_card() -> None:
    cell = Cell("sarama", FEATURES[0])
    assert "**no**" in rendered({cell: "failed"})
    assert "not run" in rendered({cell: "skipped"})
