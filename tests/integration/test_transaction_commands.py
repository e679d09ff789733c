"""`ottla transactions` on a broker of our own, and what only it can tell: who wrote, who waits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.integration.group_stories import Commands
from tests.integration.transaction_stories import STORIES, UNVERIFIED, begin, hang, producer

_PATIENCE_S = 60
_LOOKS = 1_000


@pytest.fixture(scope="module")
def announced() -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "ottla", "up", "--ephemeral", "--port", "0", "--json"]
    for name, value in UNVERIFIED.items():
        command += ["--set", f"{name}={value}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as broker:
        try:
            assert broker.stdout is not None
            yield json.loads(broker.stdout.readline())
        finally:
            broker.terminate()
            broker.wait(_PATIENCE_S)


@pytest.fixture
def commands(announced: dict[str, str]) -> Commands:
    return Commands(announced["bootstrap"])


@pytest.fixture
def told(announced: dict[str, str], commands: Commands) -> Callable[..., Any]:
    """With what the broker's HTTP port adds."""
    return lambda *arguments: commands.told("transactions", *arguments, "--url", announced["http"])


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_it_happens_so(commands: Commands, story: Callable[[Commands, str], None]) -> None:
    commands.done("topics", "create", story.__name__, "-p", "2")
    story(commands, story.__name__)


def test_the_consumers_that_wait_for_a_transaction_are_named(
    commands: Commands, announced: dict[str, str], told: Callable[..., Any]
) -> None:
    commands.done("topics", "create", "awaited", "-p", "1")
    writer = producer(commands.bootstrap, "awaited", **{"client.id": "etl"})
    begin(writer, "awaited", 0)
    reader = Consumer(
        {
            "bootstrap.servers": commands.bootstrap,
            "group.id": "awaited",
            "client.id": "billing",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 5_000,
        }
    )
    reader.assign([TopicPartition("awaited", 0, 0)])
    looks = (told("describe", "-t", "awaited")[0] for _ in range(_LOOKS))
    found = next(each for each in looks if each["waiting"])
    assert [(each["client_id"], each["fetch_offset"]) for each in found["waiting"]] == [
        ("billing", 0)
    ]
    assert [each["client_id"] for each in found["open"]] == ["etl"]
    story = commands.done("transactions", "describe", "awaited", "--url", announced["http"])
    assert "written by client etl at 127.0.0.1:" in story
    assert "1 consumer waits for it: billing at 127.0.0.1:" in story
    writer.commit_transaction(_PATIENCE_S)
    (message,) = reader.consume(1, timeout=_PATIENCE_S)
    assert message.value() == b"v"
    reader.close()
    assert told("describe", "-t", "awaited")[0]["waiting"] is None


def test_the_client_of_one_that_hangs_is_known_when_it_has_gone(
    commands: Commands, announced: dict[str, str]
) -> None:
    commands.done("topics", "create", "orphaned", "-p", "1")
    hang(commands.bootstrap, "orphaned", producer_id=778_000)
    place = ("-t", "orphaned", "--url", announced["http"])
    result = commands.run("transactions", "find-hanging", *place)
    assert "written by client tests at 127.0.0.1:" in result.stdout
    assert "which has gone; no coordinator knows it" in result.stdout
    commands.done("transactions", "abort", "orphaned:0", "--start-offset", "0")
