"""The pytest plugin: fixtures `ottla`, a broker, `ottla_topic`, a fresh topic in it, and
`ottla_spark`, a small Spark session for pipelines.

Everything but pytest is loaded when a test first asks for a fixture: pytest loads this file in
every run of everybody who has Ottla installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ottla.testing.broker import Broker

_LONGEST_NAME = 200  # Kafka allows 249
_BROKER = pytest.StashKey["Broker"]()
_numbers = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ottla", "a Kafka-compatible broker")
    group.addoption(
        "--ottla-set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the broker; wins over ottla_settings. May be given again.",
    )
    parser.addini("ottla_settings", "options of the broker, a key=value a line", type="linelist")


@pytest.fixture(scope="session")
def ottla(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A broker for the whole run, one for each worker of pytest-xdist. It keeps nothing."""
    config = request.config
    lines = [*config.getini("ottla_settings"), *config.getoption("ottla_set")]
    settings = dict(_setting(line) for line in lines)
    testing = import_module("ottla.testing.broker")
    with testing.Broker(settings) as broker:
        config.stash[_BROKER] = broker
        yield broker
        del config.stash[_BROKER]


def _setting(line: str) -> tuple[str, str]:
    key, separator, value = line.partition("=")
    if not separator:
        raise pytest.UsageError(f"--ottla-set or ottla_settings {line!r}; expected key=value")
    return key.strip(), value.strip()


@pytest.fixture
def ottla_topic(ottla: Broker, request: pytest.FixtureRequest) -> Iterator[str]:
    """A topic of the test's own, with one partition; its name is the test's."""
    name = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:_LONGEST_NAME].strip("-")
    topic = ottla.create_topic(f"{name}-{next(_numbers)}")
    yield topic
    ottla.calm()  # or the deletion could meet a fault of the test's
    if ottla.is_running:
        ottla.delete_topic(topic)


@pytest.fixture(scope="session")
def ottla_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One for the whole run, with the jars that `ottla spark jars` has fetched. Needs Java."""
    testing = import_module("ottla.testing.spark")
    with testing.small_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """What one test does to the broker is not the next one's trouble."""
    broker = item.config.stash.get(_BROKER, None)
    if broker is not None:
        broker.calm()
