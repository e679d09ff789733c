"""Members of every client come, go, crash and stall: none loses a record, no two own a partition.

Most of it is waiting, so the clients have their turns at the same time: a test waits for its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from tests.clients.groups.churn import CHURNS
from tests.clients.groups.crew import Crew, Homes
from tests.clients.groups.roster import ROSTER, STARTERS
from tests.clients.groups.scenarios import SCENARIOS, Scenario
from tests.differential.case import DEFAULT, SETTINGS
from tests.targets.target import SOAKING, TARGETS, started

AT_A_TIME = 6
GROUP_SETTINGS = SETTINGS[DEFAULT] | {
    "group.min.session.timeout.ms": "500",
    "offsets.topic.num.partitions": "5",
}
CASES = [
    pytest.param(entry.name, scenario, id=f"{entry.name}-{scenario.name}")
    for entry in ROSTER
    for scenario in (*SCENARIOS, *(CHURNS if SOAKING else ()))
    if scenario.proves[0] in entry.abilities
]
ABILITIES = {entry.name: entry.abilities for entry in ROSTER}


class Turns:
    """The cases of one client follow each other; several clients have their turn at a time."""

    def __init__(self, homes: Homes, cases: list[tuple[str, Scenario]]) -> None:
        self._homes = homes
        self._pool = ThreadPoolExecutor(AT_A_TIME)
        self._outcomes: dict[tuple[str, str], Future[None]] = {
            (name, scenario.name): Future() for name, scenario in cases
        }
        for client in dict.fromkeys(name for name, _ in cases):
            own = [scenario for name, scenario in cases if name == client]
            self._pool.submit(self._take, client, own)

    def _take(self, client: str, scenarios: list[Scenario]) -> None:
        for scenario in scenarios:
            outcome = self._outcomes[client, scenario.name]
            try:
                self._run(client, scenario)
            except BaseException as error:
                outcome.set_exception(error)
            else:
                outcome.set_result(None)

    def _run(self, client: str, scenario: Scenario) -> None:
        self._homes.of(client)
        crew = Crew(self._homes, client, scenario.name)
        try:
            scenario.run(crew, ABILITIES[client])
        finally:
            crew.end()

    def result(self, client: str, scenario: Scenario) -> None:
        self._outcomes[client, scenario.name].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module", params=TARGETS)
def turns(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Turns]:
    chosen: list[tuple[str, Scenario]] = [
        (str(item.callspec.params["name"]), cast(Scenario, item.callspec.params["scenario"]))
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.originalname == test_a_group_of.__name__
        and item.callspec.params["turns"] == request.param
    ]
    folder: Path = tmp_path_factory.mktemp("groups")
    with started(request.param, folder, GROUP_SETTINGS) as bootstrap:
        homes = Homes(bootstrap, folder, STARTERS)
        turns = Turns(homes, chosen)
        try:
            yield turns
        finally:
            turns.close()
            homes.close()


@pytest.mark.parametrize(("name", "scenario"), CASES)
def test_a_group_of(name: str, scenario: Scenario, turns: Turns) -> None:
    turns.result(name, scenario)
