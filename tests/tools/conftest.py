"""One broker and one JVM of tools for all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.confluent_client import ConfluentClient
from tests.differential.case import DEFAULT, SETTINGS
from tests.targets.target import TARGETS, started
from tests.tools.tools import Tools


@pytest.fixture(scope="session", params=TARGETS)
def tools(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tools]:
    folder = tmp_path_factory.mktemp("tools")
    with started(request.param, folder, SETTINGS[DEFAULT]) as bootstrap:
        tools = Tools(bootstrap, folder)
        try:
            yield tools
        finally:
            tools.close()


@pytest.fixture(scope="session")
def client(tools: Tools) -> Iterator[ConfluentClient]:
    client = ConfluentClient(tools.bootstrap)
    yield client
    client.close()
