"""The administrator's commands on a broker of our own, as on Kafka's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from ottla.cli.app import app

_PATIENCE_S = 60


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    command = [sys.executable, "-m", "ottla", "up", "--ephemeral", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as broker:
        try:
            assert broker.stdout is not None
            yield json.loads(broker.stdout.readline())["bootstrap"]
        finally:
            broker.terminate()
            broker.wait(_PATIENCE_S)


def run(bootstrap: str, *arguments: str, code: int = 0, stdin: bytes = b"") -> str:
    environment = {"OTTLA_BOOTSTRAP": bootstrap}
    result = CliRunner().invoke(app, arguments, input=stdin, env=environment, prog_name="ottla")
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def told(bootstrap: str, *arguments: str) -> Any:
    return json.loads(run(bootstrap, *arguments, "--json"))


def test_a_topic_is_made_configured_expanded_and_deleted(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "life", "-p", "2", "-c", "retention.ms=5000")
    run(bootstrap, "configs", "set", "-t", "life", "cleanup.policy+=compact")
    run(bootstrap, "topics", "expand", "life", "-p", "3")
    (described,) = told(bootstrap, "topics", "describe", "life")
    assert described["configs"] == {"cleanup.policy": "delete,compact", "retention.ms": "5000"}
    assert len(described["partitions"]) == 3
    assert "retention.ms" in run(
        bootstrap, "configs", "set", "-t", "life", "retention.ms=x", code=1
    )
    assert "Did you mean life?" in run(bootstrap, "topics", "describe", "lief", code=1)
    run(bootstrap, "topics", "delete", "life")
    assert "life" not in [each["topic"] for each in told(bootstrap, "topics", "list")]


def test_records_go_in_come_out_and_are_deleted(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "orders", "-p", "1")
    run(bootstrap, "produce", "orders", "-k", ":", "--compression", "lz4", stdin=b"a:1\nb:2\n")
    consume = ["consume", "orders", "--exit", "-f", "{offset} {key}={value}"]
    assert run(bootstrap, *consume, "--from-beginning") == "0 a=1\n1 b=2\n"
    assert run(bootstrap, *consume, "-o", "-1") == "1 b=2\n"
    (deleted,) = told(bootstrap, "offsets", "delete-records", "orders:0=1")
    assert deleted["low_watermark"] == 1
    (found,) = told(bootstrap, "offsets", "get", "orders")
    assert (found["earliest"], found["latest"]) == (1, 2)
    (directory,) = told(bootstrap, "log-dirs", "describe", "-t", "orders")
    assert directory["replicas"][0]["size_bytes"] > 0


def test_a_group_is_refused_at_once_while_there_are_none(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "shared", "-p", "1")
    refusal = run(bootstrap, "consume", "shared", "-g", "team", code=1)
    assert "does not serve ListGroups: it has no groups yet" in refusal
