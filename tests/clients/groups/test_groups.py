"""Members of every client come, go, crash and stall: none loses a record, no two own a partition.

Most of it is waiting, so the clients have their turns at the same time: a test waits for its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.groups.churn import CHURNS
from tests.clients.groups.crew import Crew, Homes
from tests.clients.groups.roster import ROSTER, STARTERS
from tests.clients.groups.scenarios import SCENARIOS, Scenario
from tests.clients.turns import Turns, cases, chosen
from tests.differential.case import DEFAULT, SETTINGS
from tests.targets.target import SOAKING, TARGETS, started

GROUP_SETTINGS = SETTINGS[DEFAULT] | {
    "group.min.session.timeout.ms": "500",
    "offsets.topic.num.partitions": "5",
}
CASES = cases(ROSTER, (*SCENARIOS, *(CHURNS if SOAKING else ())))
ABILITIES = {entry.name: entry.abilities for entry in ROSTER}


@pytest.fixture(scope="module", params=TARGETS)
def turns(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Turns[Scenario]]:
    folder: Path = tmp_path_factory.mktemp("groups")
    with started(request.param, folder, GROUP_SETTINGS) as bootstrap:
        homes = Homes(bootstrap, folder, STARTERS)

        def attempt(client: str, scenario: Scenario) -> None:
            homes.of(client)
            crew = Crew(homes, client, scenario.name)
            try:
                scenario.run(crew, ABILITIES[client])
            finally:
                crew.end()

        turns = Turns(chosen(request, test_a_group_of), attempt)
        try:
            yield turns
        finally:
            turns.close()
            homes.close()


@pytest.mark.parametrize(("name", "scenario"), CASES)
def test_a_group_of(name: str, scenario: Scenario, turns: Turns[Scenario]) -> None:
    turns.result(name, scenario)
