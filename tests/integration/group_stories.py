"""What the commands on groups and records do on a real broker, whoever's it is.

Each story has a topic of its own with two partitions, and names its group after it.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from ottla.cli.app import app

_PATIENCE_S = 60
TEN = b"".join(b"%d\n" % number for number in range(10))
WINDOW = r"\d+ records sent, \d+\.\d records/sec \(\d+\.\d\d MB/sec\), .*"
TOTAL = (
    r"\d+ records sent, \d+\.\d{6} records/sec \(\d+\.\d\d MB/sec\), \d+\.\d\d ms avg latency, "
    r"\d+\.\d\d ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\."
)
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}"
_NUMBER = r"\d+\.\d{4}"
READ = ", ".join([_TIME, _TIME, _NUMBER, _NUMBER, r"\d+", _NUMBER, r"\d+", r"\d+", *[_NUMBER] * 2])


class Commands:
    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def run(self, *arguments: str, stdin: bytes = b"") -> Result:
        environment = {"OTTLA_BOOTSTRAP": self.bootstrap}
        return CliRunner().invoke(app, arguments, input=stdin, env=environment, prog_name="ottla")

    def done(self, *arguments: str, stdin: bytes = b"") -> str:
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def told(self, *arguments: str) -> Any:
        return json.loads(self.done(*arguments, "--json"))

    def refused(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        return result.stderr

    @contextmanager
    def member(self, topic: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Of the group named after the topic, once it has both partitions."""
        command = ["-m", "ottla", "verify", "consume", topic, "-g", topic, *options]
        with subprocess.Popen(
            [sys.executable, *command, "-b", self.bootstrap], stdout=subprocess.PIPE
        ) as process:
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    if json.loads(line)["name"] == "partitions_assigned":
                        break
                yield process
            finally:
                process.kill()


def a_groups_life(commands: Commands, topic: str) -> None:
    """Only what was printed is committed, and offsets go where they are sent."""
    commands.done("produce", topic, "-p", "0", stdin=TEN)
    consume = ("consume", topic, "-g", topic, "--from-beginning")
    assert commands.done(*consume, "-n", "4").split() == ["0", "1", "2", "3"]
    (described,) = commands.told("groups", "describe", topic)
    assert (described["state"], described["members"]) == ("Empty", [])
    assert [(each["committed"], each["lag"]) for each in described["offsets"]] == [(4, 6)]
    shown = commands.told("groups", "reset", topic, "--shift-by", "-3")
    assert [(each["before"], each["after"], each["executed"]) for each in shown] == [(4, 1, False)]
    assert commands.told("groups", "describe", topic)[0]["offsets"][0]["committed"] == 4
    commands.done("groups", "reset", topic, "--shift-by", "-3", "--execute")
    assert commands.done(*consume, "-n", "2").split() == ["1", "2"]
    commands.done("groups", "reset", topic, "-t", topic, "--to-latest", "--execute")
    offsets = commands.told("groups", "describe", topic)[0]["offsets"]
    assert [(each["committed"], each["lag"]) for each in offsets] == [(10, 0), (0, 0)]
    commands.done("groups", "delete", topic, "--offsets-of", f"{topic}:1")
    assert len(commands.told("groups", "describe", topic)[0]["offsets"]) == 1
    assert topic in [each["group"] for each in commands.told("groups", "list")]
    commands.done("groups", "delete", topic)
    assert topic not in [each["group"] for each in commands.told("groups", "list")]
    assert f"there is no group {topic!r}" in commands.refused("groups", "describe", topic)


def resets_by_time(commands: Commands, topic: str) -> None:
    lines = b"".join(b'{"value": "v", "timestamp": %d}\n' % (1000 * n) for n in range(1, 11))
    commands.done("produce", topic, "-p", "0", "--json", stdin=lines)
    reset = ("groups", "reset", topic, "-t", f"{topic}:0")
    (by_time,) = commands.told(*reset, "--to-time", "4000")
    (by_duration,) = commands.told(*reset, "--by-duration", "1h")
    assert (by_time["before"], by_time["after"], by_duration["after"]) == (None, 3, 10)
    exported = commands.done(*reset, "--to-offset", "6", "--export")
    commands.done(
        "groups", "reset", topic, "--from-file", "-", "--execute", stdin=exported.encode()
    )
    assert commands.done("consume", topic, "--exit", "-g", topic, "-f", "{offset}").split() == [
        "6", "7", "8", "9",
    ]  # fmt: skip


def lag_in_records_and_in_time(commands: Commands, topic: str) -> None:
    commands.done("produce", topic, "-p", "0", "--json", stdin=b'{"value": "v", "timestamp": 5000}')
    commands.done("groups", "reset", topic, "-t", topic, "--to-earliest", "--execute")
    found = commands.told("groups", "lag", topic, "-n", "2", "--every", "0.01")
    behind, done = found["partitions"]
    assert (found["status"], found["lag"]) == ("error", 1)
    assert (behind["status"], behind["lag"]) == ("stopped", 1)
    assert behind["age_ms"] == found["at_ms"] - 5000
    assert (done["status"], done["lag"], done["age_ms"]) == ("ok", 0, 0)
    assert "ok (one sample)" in commands.done("groups", "lag", topic, "-n", "1")


def members_are_named_when_they_are_in_the_way(commands: Commands, topic: str) -> None:
    with commands.member(topic) as process:
        (described,) = commands.told("groups", "describe", topic)
        (member,) = described["members"]
        assert (described["state"], described["assignor"]) == ("Stable", "range")
        assert member["client_id"] == "ottla"
        assert [each["partition"] for each in member["assigned"]] == [0, 1]
        reset = ("groups", "reset", topic, "-t", topic, "--to-latest", "--execute")
        assert f"has 1 member: {member['member_id']} (client ottla at" in commands.refused(*reset)
        assert "Stop them, then try again." in commands.refused("groups", "delete", topic)
        process.send_signal(signal.SIGTERM)
        assert process.wait(_PATIENCE_S) == 0
        assert process.stdout is not None
        names = [json.loads(line)["name"] for line in process.stdout]
        assert names == ["partitions_revoked", "shutdown_complete"]
    commands.done(*reset)


def records_in_every_form(commands: Commands, topic: str) -> None:
    hexadecimal = b"ff00:0a\n-:-\n"
    options = ("-p", "0", "-k", ":", "--null", "-", "--hex", "-H", "h=1")
    commands.done("produce", topic, *options, stdin=hexadecimal)
    read = ("consume", topic, "--from-beginning", "--exit")
    shown = commands.done(*read, "--hex", "-f", "{key}:{value} {headers}")
    assert shown.splitlines() == ["ff00:0a h=31", "null:null h=31"]
    as_json = commands.done(*read, "--json")
    commands.done("produce", topic, "-p", "1", "--json", stdin=as_json.encode())
    first, second = (commands.done(*read, "-p", part, "--json") for part in "01")
    keep = ("key", "value", "headers", "timestamp")
    assert [[json.loads(line)[name] for name in keep] for line in first.splitlines()] == [
        [json.loads(line)[name] for name in keep] for line in second.splitlines()
    ]
    assert commands.done(*read, "--rate", "50", "-n", "3", "-f", "x").split() == ["x"] * 3


def records_in_an_avro_file(commands: Commands, topic: str, folder: Path) -> None:
    file = str(folder / "records.avro")
    commands.done("produce", topic, "-p", "0", "-k", ":", "-H", "h=1", stdin=b"a:1\nb:\xff\n")
    read = ("consume", topic, "--from-beginning", "--exit")
    assert commands.done(*read, "--avro", file) == ""
    commands.done("produce", topic, "-p", "1", "--avro", file)
    lines = [commands.done(*read, "-p", part, "--json").splitlines() for part in "01"]
    first, second = [[json.loads(line) for line in each] for each in lines]
    assert [each | {"partition": 0} for each in second] == first


def verified_transactions(commands: Commands, folder: Path) -> None:
    """The whole workload; and what it saved is found to be as good, or not once it is changed."""
    file = folder / "run.jsonl"
    work = ("verify", "transactions", "-n", "40", "--seed", "1", "--history", str(file))
    before = commands.told("topics", "list")
    report = commands.told(*work)
    assert (report["seed"], report["trouble"], report["findings"]) == (1, "", [])
    statistics = report["statistics"]
    assert min(statistics["committed"], statistics["transformed"]) > 20
    assert statistics["aborted"] > 5
    own = {"__consumer_offsets", "__transaction_state"}
    there = {each["topic"] for each in before} | own
    assert {each["topic"] for each in commands.told("topics", "list")} <= there
    assert commands.told("verify", "history", str(file))["statistics"] == statistics
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"ended"' not in line))
    damaged = commands.run("verify", "history", str(file))
    assert damaged.exit_code == 1
    assert "FOUND: dirty read" in damaged.stdout


def verified_clients(commands: Commands, topic: str) -> None:
    produced = commands.done("verify", "produce", topic, "-n", "5", "--repeating-keys", "2")
    told = [json.loads(line) for line in produced.splitlines()]
    names = ["startup_complete", *["producer_send_success"] * 5, "shutdown_complete", "tool_data"]
    assert [each["name"] for each in told] == names
    assert (told[-1]["sent"], told[-1]["acked"]) == (5, 5)
    consumed = commands.done("verify", "consume", topic, "-g", topic, "-n", "5", "--verbose")
    events = [json.loads(line) for line in consumed.splitlines()]
    sent = {(each["partition"], each["offset"]): each["value"] for each in told[1:6]}
    read = [each for each in events if each["name"] == "record_data"]
    assert {(each["partition"], each["offset"]): each["value"] for each in read} == sent
    assert sum(each.get("count", 0) for each in events) == 5
    assert all(each["success"] for each in events if each["name"] == "offsets_committed")
    assert [each["name"] for each in events[-2:]] == ["partitions_revoked", "shutdown_complete"]
    offsets = commands.told("groups", "describe", topic)[0]["offsets"]
    assert sum(each["committed"] for each in offsets) == 5


def measured_clients(commands: Commands, topic: str) -> None:
    assert re.fullmatch(TOTAL, commands.done("bench", "produce", topic, "-n", "500").strip())
    header, row = commands.done("bench", "consume", topic, "-n", "500").splitlines()
    assert re.fullmatch(READ, row)
    assert header.split(", ")[4] == "data.consumed.in.nMsg"
    assert row.split(", ")[4] == "500"
    grouped = commands.told("bench", "consume", topic, "-n", "500", "-g", topic)
    assert grouped["data.consumed.in.nMsg"] == 500
    few = commands.run("bench", "consume", topic, "-n", "501", "--timeout", "0.5", "--no-header")
    assert few.exit_code == 1
    assert "only 500 records of 501 came in time" in few.stderr


STORIES = (
    a_groups_life,
    resets_by_time,
    lag_in_records_and_in_time,
    members_are_named_when_they_are_in_the_way,
    records_in_every_form,
    verified_clients,
    measured_clients,
)
