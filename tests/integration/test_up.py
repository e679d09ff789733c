"""`ottla up` as an operator meets it: how it starts, refuses to start, and ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from ottla.protocol.apis.describe_cluster import DescribeClusterRequest
from tests.integration.test_tour import SHELL
from tests.targets.connection import ask

_LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [A-Z]+ [a-z_.]+ .+")
_CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
WHO = DescribeClusterRequest(include_cluster_authorized_operations=False)


def command(*arguments: str, as_json: bool = True) -> list[str]:
    return [sys.executable, "-m", "ottla", "up", *["--json"] * as_json, *arguments]


@contextmanager
def started(*arguments: str, folder: Path, as_json: bool = True) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    run = command(*arguments, as_json=as_json)
    with subprocess.Popen(
        run, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment(folder)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder)}


def facts_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    facts: dict[str, Any] = json.loads(process.stdout.readline())
    return facts


def announcement_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return os.read(process.stdout.fileno(), 10_000).decode()  # it comes in one write


def refused(*arguments: str) -> str:
    """What it says, after the check that it is a sentence and not a stack."""
    ended = subprocess.run(command(*arguments), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Traceback" not in ended.stderr
    assert ended.stderr.startswith("ottla: ")
    return ended.stderr.removeprefix("ottla: ")


def printed_by(line: str) -> str:
    """On the terminal: some say what they did where it is in no pipe's way."""
    done = subprocess.run(
        ["bash", "-c", SHELL + line],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def read_until_interrupted(line: str) -> str:
    """What it printed when there was something to read: it waits for more until Ctrl-C."""
    with subprocess.Popen(
        ["bash", "-c", SHELL + line], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate()
    assert process.returncode == 0
    return first + rest


def test_the_commands_that_it_suggests_work_as_they_are_printed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    arguments = ("--port", "0", "--data", str(data))
    with started(*arguments, folder=tmp_path, as_json=False) as process:
        announced = announcement_of(process)
        create, produce, consume = re.findall(r"(?m)^  (.*\bottla .*)$", announced)
        assert announced.startswith(f"Ottla serves at {create.split()[-1]} ")
        assert f"data in {data};" in announced
        assert "Stop it with Ctrl-C." in announced
        assert printed_by(create) == "Created orders with 3 partitions, replication factor 1.\n"
        assert printed_by(produce) == "1 record delivered to orders.\n"
        assert read_until_interrupted(consume) == "hello\n"


def test_a_program_reads_one_line_where_it_is_and_how_to_end_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started("--port", "0", "--data", str(data), folder=tmp_path) as process:
        facts = facts_of(process)
        assert " ".join(facts) == "bootstrap pid pids broker_id cluster_id data http"
        assert [Path(folder) for folder in facts["data"]] == [data]
        assert (data / "meta.properties").exists()
        found = ask(facts["bootstrap"], WHO, 0)
        (broker,) = found.brokers
        assert f"{broker.host}:{broker.port}" == facts["bootstrap"]
        assert (broker.broker_id, found.cluster_id) == (facts["broker_id"], facts["cluster_id"])
        with urlopen(f"{facts['http']}/healthz") as answer:
            assert answer.status == 200
        # Who gets this signal is who listens: after it nobody does.
        assert facts["pids"] == [facts["pid"]] == [process.pid]
        os.kill(facts["pid"], signal.SIGTERM)
        rest, _ = process.communicate()
    assert (process.returncode, rest) == (0, "")
    with pytest.raises(ConnectionRefusedError):
        ask(facts["bootstrap"], WHO, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    data = tmp_path / "data"
    with started("--port", "0", "--data", str(data), folder=tmp_path) as process:
        facts_of(process)
        process.send_signal(number)
        _, said = process.communicate()
    assert process.returncode == 0
    assert (data / _CLEAN_SHUTDOWN).exists()
    assert [line.split(" ", 3)[3] for line in said.splitlines()[1:]] == [
        "broker 0 stops",
        "broker 0 has stopped",
    ]
    assert all(_LINE.fullmatch(line) for line in said.splitlines())


def test_a_signal_while_it_starts_ends_it_too(tmp_path: Path) -> None:
    with started("--port", "0", "--ephemeral", folder=tmp_path) as process:
        while not list(tmp_path.glob("ottla-*")):
            assert process.poll() is None
        process.terminate()
        _, complaints = process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in complaints
    assert not list(tmp_path.iterdir())


def test_an_ephemeral_broker_leaves_nothing(tmp_path: Path) -> None:
    with started("--port", "0", "--ephemeral", folder=tmp_path) as process:
        (folder,) = facts_of(process)["data"]
        assert Path(folder).parent == tmp_path
        process.terminate()
        process.communicate()
    assert not list(tmp_path.iterdir())


def test_it_ends_with_its_standard_input_if_asked_to(tmp_path: Path) -> None:
    arguments = ("--port", "0", "--ephemeral", "--until-stdin-closes")
    with started(*arguments, folder=tmp_path) as process:
        facts_of(process)
        process.communicate()  # closes it
    assert process.returncode == 0


def test_a_port_in_use_is_named_with_the_fix(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("--port", str(port), "--data", str(tmp_path))
        assert said == (
            f"cannot listen at 127.0.0.1:{port}: another program uses this port. Stop that "
            "program, or choose another port with --port or listeners; 0 takes a free one.\n"
        )
        said = refused("--port=0", "--data", str(tmp_path), f"--set=ottla.http.port={port}")
        assert f"127.0.0.1:{port}: another program uses this port" in said
        assert "ottla.http.port" in said


def test_a_folder_in_use_is_named_with_the_fix(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    with started("--port", "0", "--data", data, folder=tmp_path) as process:
        facts_of(process)
        said = refused("--port", "0", "--data", data)
        assert said.startswith(data)
        assert "stop that one" in said


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    data = str(tmp_path / "file" / "data")
    assert refused("--port", "0", "--data", data) == (
        f"the folder {data} cannot be made: Not a directory. "
        "Give another with --data or log.dirs.\n"
    )


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert str(tmp_path) in refused("--port", "0", "--data", str(tmp_path))


def test_all_mistakes_in_options_are_told_at_once() -> None:
    said = refused(
        "--ephemeral", "--set=num.partitions=x", "--set=nothing", "--set=log.segment.bytes=1"
    )
    assert len(said.splitlines()) == 3
    for mistake in ("'nothing'", "num.partitions: 'x'", "log.segment.bytes: '1'"):
        assert mistake in said


def test_an_option_that_does_not_exist_is_warned_of_with_the_nearest(tmp_path: Path) -> None:
    arguments = ("--port", "0", "--ephemeral", "--set=log.retntion.ms=1")
    with started(*arguments, folder=tmp_path) as process:
        facts_of(process)
        process.terminate()
        _, said = process.communicate()
    assert "log.retntion.ms" in said
    assert "did you mean log.retention.ms" in said


def test_a_wrong_call_is_shown_how_to_do_it() -> None:
    ended = subprocess.run(
        command("--log-level", "loud"), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "'loud' is not one of" in ended.stderr


@pytest.mark.parametrize(("level", "is_told"), [("info", True), ("warn", False), ("error", False)])
def test_it_tells_as_much_as_it_is_asked_to(tmp_path: Path, level: str, is_told: bool) -> None:
    arguments = ("--port", "0", "--ephemeral", "--log-level", level)
    with started(*arguments, folder=tmp_path) as process:
        facts_of(process)
        process.terminate()
        _, said = process.communicate()
    assert ("ottla.controller.controller broker 0 is controller" in said) is is_told
    assert (said == "") is (level == "error")
