"""One broker of each kind for all tests here; each client is started when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.clients.asserting import rewrite_asserts
from tests.clients.client import Client
from tests.clients.roster import ROSTER
from tests.differential.case import DEFAULT, OLD_FORMATS, SETTINGS
from tests.targets.connection import ask
from tests.targets.target import TARGETS, started

rewrite_asserts()

MakeTopic = Callable[..., str]
_NUMBERS = count()


class Clients:
    """By name; one of each for a broker."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        self._folder = folder
        self._running: dict[str, Client] = {}

    def __getitem__(self, name: str) -> Client:
        if name not in self._running:
            (entry,) = [entry for entry in ROSTER if entry.name == name]
            self._running[name] = entry.start(self.bootstrap, self._folder)
        return self._running[name]

    def close(self) -> None:
        for client in self._running.values():
            client.close()


def _beside(target: str, settings: Mapping[str, str], folder: Path) -> Iterator[Clients]:
    with started(target, folder, settings) as bootstrap:
        clients = Clients(bootstrap, folder)
        try:
            yield clients
        finally:
            clients.close()


@pytest.fixture(scope="session", params=TARGETS)
def clients(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Clients]:
    yield from _beside(request.param, SETTINGS[DEFAULT], tmp_path_factory.mktemp("broker"))


@pytest.fixture(scope="session", params=TARGETS)
def old_clients(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Clients]:
    """Beside a broker that still keeps topics in the formats before 0.11."""
    yield from _beside(request.param, SETTINGS[OLD_FORMATS], tmp_path_factory.mktemp("old"))


def make_topic(
    bootstrap: str,
    *,
    partitions: int = 1,
    configs: Mapping[str, str] | None = None,
    name: str | None = None,
) -> str:
    """A fresh topic, made over the wire: what creates topics is tested elsewhere."""
    name = name or f"clients-{next(_NUMBERS)}"
    wanted = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=k, value=v) for k, v in (configs or {}).items()],
    )
    (result,) = ask(bootstrap, CreateTopicsRequest(topics=[wanted]), 5).topics
    assert result.error_code == 0, result.error_message
    return name
