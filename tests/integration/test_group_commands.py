"""Groups, and records in every form, on a broker of our own; the history that only it keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.group_stories import (
    STORIES,
    Commands,
    records_in_an_avro_file,
    verified_transactions,
)

_PATIENCE_S = 60


@pytest.fixture(scope="module")
def announced() -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "ottla", "up", "--ephemeral", "--port", "0", "--json"]
    quick = ["--set", "group.initial.rebalance.delay.ms=0"]
    with subprocess.Popen(
        [*command, *quick], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as broker:
        try:
            assert broker.stdout is not None
            yield json.loads(broker.stdout.readline())
        finally:
            broker.terminate()
            broker.wait(_PATIENCE_S)


@pytest.fixture
def commands(announced: dict[str, str]) -> Commands:
    return Commands(announced["bootstrap"])


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_it_happens_so(commands: Commands, story: Callable[[Commands, str], None]) -> None:
    commands.done("topics", "create", story.__name__, "-p", "2")
    story(commands, story.__name__)


def test_records_go_into_an_avro_file_and_back(commands: Commands, tmp_path: Path) -> None:
    pytest.importorskip("fastavro")
    commands.done("topics", "create", "filed", "-p", "2")
    records_in_an_avro_file(commands, "filed", tmp_path)


def test_a_workload_of_transactions_is_verified(commands: Commands, tmp_path: Path) -> None:
    verified_transactions(commands, tmp_path)


def test_a_broker_of_ours_tells_why_a_group_rebalanced(
    commands: Commands, announced: dict[str, str]
) -> None:
    commands.done("topics", "create", "told", "-p", "2")
    with commands.member("told", "--instance", "left"), commands.member("told"):
        pass
    url = ("--url", announced["http"])
    joined = commands.told("groups", "history", "told", *url)
    assert [each["cause"] for each in joined][:2] == ["member joined", "member joined"]
    assert joined[0]["who"]["instance_id"] == "left"
    assert {each["from"] for each in joined[1]["moved"]} == {"left"}
    story = commands.done("groups", "history", "told", *url)
    assert "generation 0 to 1: member joined: left (client ottla at /127.0.0.1)" in story
    assert "told-1 from left to ottla-" in story
