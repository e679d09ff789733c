"""Cases that are mostly waiting: the clients have their turns at the same time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

import pytest

AT_A_TIME = 6


class Named(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=Named)


class Turns(Generic[S]):
    """The cases of one client follow each other; several clients have their turn at a time."""

    def __init__(self, cases: Sequence[tuple[str, S]], attempt: Callable[[str, S], None]) -> None:
        self._attempt = attempt
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
                self._attempt(client, scenario)
            except BaseException as error:
                outcome.set_exception(error)
            else:
                outcome.set_result(None)

    def result(self, client: str, scenario: S) -> None:
        self._outcomes[client, scenario.name].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class Played(Named, Protocol):
    @property
    def proves(self) -> Sequence[str]: ...


class Player(Named, Protocol):
    @property
    def abilities(self) -> Collection[str]: ...


def cases(roster: Sequence[Player], scenarios: Sequence[Played]) -> list[Any]:
    """Each client in each scenario that it can play, as parameters of a test."""
    return [
        pytest.param(entry.name, scenario, id=f"{entry.name}-{scenario.name}")
        for entry in roster
        for scenario in scenarios
        if scenario.proves[0] in entry.abilities
    ]


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
