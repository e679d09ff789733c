"""Transactions of every client: whole or absent, in order, and passed on exactly once.

Most of it is waiting, so the clients have their turns at the same time: a test waits for its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.groups.crew import Homes
from tests.clients.transactions.churn import CHURNS
from tests.clients.transactions.roster import ROSTER, STARTERS
from tests.clients.transactions.scenarios import SCENARIOS, Scenario
from tests.clients.transactions.stage import Stage
from tests.clients.turns import Turns, cases, chosen
from tests.differential.case import DEFAULT, SETTINGS
from tests.targets.target import SOAKING, TARGETS, started

TRANSACTION_SETTINGS = SETTINGS[DEFAULT] | {
    "group.min.session.timeout.ms": "500",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
CASES = cases(ROSTER, (*SCENARIOS, *(CHURNS if SOAKING else ())))
ABILITIES = {entry.name: entry.abilities for entry in ROSTER}


@pytest.fixture(scope="module", params=TARGETS)
def turns(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Turns[Scenario]]:
    folder: Path = tmp_path_factory.mktemp("transactions")
    with started(request.param, folder, TRANSACTION_SETTINGS) as bootstrap:
        homes = Homes(bootstrap, folder, STARTERS)

        def attempt(client: str, scenario: Scenario) -> None:
            stage = Stage(homes, client, scenario.name)
            try:
                scenario.run(stage, ABILITIES[client])
            finally:
                stage.end()

        turns = Turns(chosen(request, test_transactions_of), attempt)
        try:
            yield turns
        finally:
            turns.close()
            homes.close()


@pytest.mark.parametrize(("name", "scenario"), CASES)
def test_transactions_of(name: str, scenario: Scenario, turns: Turns[Scenario]) -> None:
    turns.result(name, scenario)
