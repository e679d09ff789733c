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


def both(bootstrap: str, *arguments: str) -> tuple[Any, str]:
    """What a command tells machines, and what it shows people."""
    return told(bootstrap, *arguments), run(bootstrap, *arguments)


def test_every_command_that_asks_tells_the_same_as_a_table_and_as_json(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "asked", "-p", "2", "-c", "retention.ms=5000")
    run(bootstrap, "produce", "asked", "-p", "1", "-H", "h=x", stdin=b"one\ntwo\n")
    listed, table = both(bootstrap, "topics", "list")
    assert "asked" in [each["topic"] for each in listed]
    assert "asked" in table
    ((described,), table) = both(bootstrap, "topics", "describe", "asked")
    assert [each["partition"] for each in described["partitions"]] == [0, 1]
    assert "retention.ms=5000" in table.replace(" ", "")
    ((configs,), table) = both(bootstrap, "configs", "describe", "-t", "asked", "--all")
    values = {each["name"]: each["value"] for each in configs["configs"]}
    assert (values["retention.ms"], values["cleanup.policy"]) == ("5000", "delete")
    assert "cleanup.policy" in table
    offsets, table = both(bootstrap, "offsets", "get", "asked")
    assert [each["latest"] for each in offsets] == [0, 2]
    assert "asked" in table
    directories, table = both(bootstrap, "log-dirs", "describe", "-t", "asked")
    assert len(directories[0]["replicas"]) == 2
    assert "asked" in table


def test_every_command_that_changes_says_what_it_did(bootstrap: str) -> None:
    create = ("topics", "create", "changed", "-p", "1")
    assert told(bootstrap, *create, "--validate-only")
    assert "changed" in run(bootstrap, *create)
    assert told(bootstrap, "topics", "expand", "changed", "-p", "2")
    assert "3" in run(bootstrap, "topics", "expand", "changed", "-p", "3")
    target = ("-t", "changed")
    assert told(bootstrap, "configs", "set", *target, "retention.ms=7000")
    assert "changed" in run(bootstrap, "configs", "set", *target, "segment.bytes=2000000")
    assert told(bootstrap, "configs", "delete", *target, "retention.ms")
    assert "changed" in run(bootstrap, "configs", "delete", *target, "segment.bytes")
    ((configs,), _) = both(bootstrap, "configs", "describe", *target)
    assert configs["configs"] == []
    run(bootstrap, "produce", "changed", "-p", "0", stdin=b"one\ntwo\nthree\n")
    assert told(bootstrap, "offsets", "delete-records", "changed:0=1")[0]["low_watermark"] == 1
    assert "changed" in run(bootstrap, "offsets", "delete-records", "changed:0=latest")
    (found, *_) = told(bootstrap, "offsets", "get", "changed")
    assert (found["earliest"], found["latest"]) == (3, 3)
    assert told(bootstrap, "topics", "delete", "changed")
    run(bootstrap, "topics", "delete", "changed", "--if-exists")
    assert "changed" in run(bootstrap, "topics", "delete", "changed", code=1)


def test_records_are_printed_as_lines_of_json_and_found_by_time(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "printed", "-p", "1")
    run(bootstrap, "produce", "printed", "-k", ":", "-H", "h=x", stdin=b"a:1\nb:2\nc:3\n")
    consume = ("consume", "printed", "--exit")
    lines = run(bootstrap, *consume, "--from-beginning", "--json").splitlines()
    records = [json.loads(line) for line in lines]
    assert [(each["offset"], each["key"], each["value"]) for each in records] == [
        (0, "a", "1"),
        (1, "b", "2"),
        (2, "c", "3"),
    ]
    assert records[0]["headers"] == [{"name": "h", "value": "x"}]
    since = str(records[0]["timestamp"])
    assert run(bootstrap, *consume, "--timestamp", since).startswith("1\n")
    assert run(bootstrap, *consume, "--from-beginning", "-n", "2") == "1\n2\n"


def test_a_replica_stays_where_only_one_directory_is(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "moved", "-p", "1")
    (directory,) = told(bootstrap, "log-dirs", "describe", "-t", "moved")
    move = ("log-dirs", "move", "moved:0", "--broker", str(directory["broker"]), "--to")
    assert told(bootstrap, *move, directory["path"])["path"] == directory["path"]
    assert "/nowhere" in run(bootstrap, *move, "/nowhere", code=1)


def test_a_group_goes_on_where_it_stopped(bootstrap: str) -> None:
    run(bootstrap, "topics", "create", "shared", "-p", "1")
    run(bootstrap, "produce", "shared", stdin=b"a\nb\n")
    consume = ("consume", "shared", "-g", "team", "--from-beginning", "--exit")
    assert run(bootstrap, *consume) == "a\nb\n"
    run(bootstrap, "produce", "shared", stdin=b"c\n")
    assert run(bootstrap, *consume) == "c\n"
