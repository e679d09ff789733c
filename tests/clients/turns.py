"""Cases that are mostly waiting: the clients have their turns at the same time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

import pytest

from tests.targets.target import SOAKING

AT_A_TIME = 6
# Clients have races of their own, each told where its tests are. In a soak nothing is tried again.
TRIES = 1 if SOAKING else 3
_logger = logging.getLogger(__name__)


class Named(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=Named)


class Turns(Generic[S]):
    """The cases of one client follow each other; several clients have their turn at a time."""

    def __init__(
        self,
        cases: Sequence[tuple[str, S]],
        attempt: Callable[[str, S, str], None],
        *,
        forgives: tuple[type[AssertionError], ...] = (),
    ) -> None:
        """`attempt` gets the client, the scenario, and a name for this try; after a failure of
        another kind than it `forgives`, there is no other."""
        self._attempt = attempt
        self._forgives = forgives
        self._pool = ThreadPoolExecutor(AT_A_TIME)
        self._outcomes: dict[tuple[str, str], Future[None]] = {
            (client, scenario.name): Future() for client, scenario in cases
        }
        for client in dict.fromkeys(client for client, _ in cases):
            own = [scenario for each, scenario in cases if each == client]
            self._pool.submit(self._take, client, own)

    def _take(self, client: str, scenarios: Sequence[S]) -> None:
        for scenario in scenarios:
            outcome = self._outcomes[client, scenario.name]
            try:
                self._run(client, scenario)
            except BaseException as error:
                outcome.set_exception(error)
            else:
                outcome.set_result(None)

    def _run(self, client: str, scenario: S) -> None:
        for again in range(1, TRIES):
            try:
                return self._attempt(client, scenario, f"{scenario.name}.{again}")
            except self._forgives as error:
                _logger.warning("%s is tried again: %s", client, error)
        return self._attempt(client, scenario, scenario.name)

    def result(self, client: str, scenario: S) -> None:
        self._outcomes[client, scenario.name].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def chosen(request: pytest.FixtureRequest, test: Callable[..., None]) -> list[tuple[str, Any]]:
    """The cases of a test that are to run beside the broker which the fixture is asked for."""
    fixture = str(request.fixturename)
    return [
        (str(item.callspec.params["name"]), item.callspec.params["scenario"])
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.originalname == test.__name__
        and item.callspec.params[fixture] == request.param
    ]
