"""`ottla verify history`, and what is told before a cluster is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ottla.verify.encoding import to_lines
from ottla.verify.history import FinalRead, History, Isolation, Sent, TopicPartition
from tests.unit.cli.commands import run, told

ORDERS = TopicPartition("orders", 0)
SENT = Sent("p", ORDERS, "v", 1, 2, offset=0)
KEPT = FinalRead(ORDERS, Isolation.READ_COMMITTED, ((0, "v"),))
LOST = FinalRead(ORDERS, Isolation.READ_COMMITTED, ())


def saved(tmp_path: Path, history: History) -> str:
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{line}\n" for line in to_lines(history)))
    return str(file)


def test_a_good_history_ends_with_0(tmp_path: Path) -> None:
    result = run("verify", "history", saved(tmp_path, History((SENT, KEPT))))
    assert result.exit_code == 0
    assert "1      records sent" in result.stdout
    assert result.stdout.endswith("Nothing is wrong with it.\n")


def test_a_bad_one_ends_with_1_and_says_what(tmp_path: Path) -> None:
    result = run("verify", "history", saved(tmp_path, History((SENT, LOST))))
    assert result.exit_code == 1
    assert "1      FOUND: lost write" in result.stdout
    assert "lost write: 'v', sent by p, was acknowledged at offset 0 of orders-0" in result.stdout
    assert result.stdout.endswith("1 finding.\n")


def test_programs_get_json(tmp_path: Path) -> None:
    result = run("verify", "history", saved(tmp_path, History((SENT, LOST))), "--json")
    report = json.loads(result.stdout)
    assert report["counts"] == {"lost write": 1}
    assert report["statistics"]["records"] == 1
    (finding,) = report["findings"]
    assert (finding["kind"], finding["client"]) == ("lost write", "p")
    assert (finding["topic"], finding["partition"], finding["offset"]) == ("orders", 0, 0)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    records = tuple((offset, f"nobody's {offset}") for offset in range(250))
    invented = FinalRead(ORDERS, Isolation.READ_COMMITTED, records)
    result = run("verify", "history", saved(tmp_path, History((invented,))))
    assert "… and 150 findings more of these kinds." in result.stdout
    assert result.stdout.endswith("250 findings.\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"hello\n", "line 1: a history begins with"),
        (b'{"history":1,"has_one_clock":true}\nhello\n', "line 2: 'hello' is no event"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_file_that_is_no_history_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    result = run("verify", "history", str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert why in told(result)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("history nowhere.jsonl", "'nowhere.jsonl' does not exist"),
        ("transactions --kill-share 0.9 --abort-share 0.2", "exceed 1"),
        ("transactions --producers 0", "0 is not in the range x>=1"),
        ("transactions --abort-share 2", "2.0 is not in the range 0<=x<=1"),
    ],
)
def test_a_wrong_call_is_told(command: str, why: str) -> None:
    result = run("verify", *command.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in told(result)


def test_a_cluster_that_is_not_there_is_told() -> None:
    result = run("verify", "transactions", "-b", "127.0.0.1:1")
    assert result.exit_code == 1
    assert "Is it running?" in told(result)
