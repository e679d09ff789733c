"""`ottla log explain-compaction`: what it says, to people and to programs, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.cli.compaction_words import fate, time_text
from ottla.storage.checkpoints import CLEANED_UP_TO, format_offsets
from ottla.storage.verdict import Verdict
from tests.storage.log_directories import KAFKA_3_9, files_of
from tests.unit.cli.commands import run, told
from tests.unit.logtools.compacted_partition import written
from tests.unit.storage.compacted_log import WrittenLog

NOW = "1700000000000"


def orders() -> WrittenLog:
    log = WrittenLog()
    log.write([(b"alice", b"one"), (b"bob", b"one"), (b"\xff\x00", b"raw")])
    log.write([(b"alice", b"two"), (b"bob", None)])
    log.write([(b"alice", b"three")])
    return log


def put(folder: Path, log: WrittenLog, *segments: int) -> Path:
    folder.mkdir()
    for path, content in written(log, segments=segments, folder=str(folder)).items():
        Path(path).write_bytes(content)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two closed segments and the active one."""
    return put(tmp_path / "orders-0", orders(), 1, 2)


def explain(folder: Path | str, *options: str) -> list[str]:
    result = run("log", "explain-compaction", str(folder), "--now", NOW, *options)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_the_whole_is_told_in_a_few_sentences_and_a_table(folder: Path) -> None:
    assert explain(folder) == [
        "orders-0: offsets 0 up to 6 in 3 segments, 265 bytes.",
        "Clean: nothing, no compaction is on record. If its cleanup.policy does not hold compact, "
        "this is what compaction would do.",
        "Dirty: from offset 0 up to 5, 187 bytes; the dirty ratio is 1.00.",
        "Out of reach: from offset 5 on, 78 bytes; the active segment is never compacted.",
        "A broker would compact it now: its dirty ratio, 1.00, is above "
        "min.cleanable.dirty.ratio, 0.50.",
        "Compacted now, 265 bytes would become 247 (93.2%); of 6 records 4 stay, 2 go.",
        "",
        "key     records  bytes  stay  go  the oldest that stays",
        "alice   3        26     2     1   offset 3: the newer one of its key is out of reach, at "
        "offset 5",
        "bob     2        9      1     1   offset 4: it deletes its key; the next compaction lets "
        "it stay until 2023-11-15 22:13:20 UTC",
        "0xff00  1        5      1     0   offset 2: it is the latest of its key",
    ]


def test_a_key_has_a_history(folder: Path) -> None:
    assert explain(folder, "--key", "alice") == [
        "0  1970-01-01 00:00:01 UTC            3 bytes  dropped: a newer one of its key is at "
        "offset 3",
        "3  1970-01-01 00:00:01 UTC            3 bytes  kept: the newer one of its key is out of "
        "reach, at offset 5",
        "5  1970-01-01 00:00:01 UTC            5 bytes  kept: the active segment is never "
        "compacted",
        "Of 3 records 2 stay, 1 goes. A broker would compact it now: its dirty ratio, 1.00, is "
        "above min.cleanable.dirty.ratio, 0.50.",
    ]


def test_several_keys_are_told_apart(folder: Path) -> None:
    lines = explain(folder, "--key", "bob", "--key", "alice")
    assert len(lines) == 6
    assert "  bob   " in lines[1]
    assert "tombstone" in lines[3]


def test_a_key_can_be_given_in_hexadecimal(folder: Path) -> None:
    (line, _) = explain(folder, "--key", "0xff00", "--key-hex")
    assert line.endswith("kept: it is the latest of its key")


def test_every_record_can_be_told(folder: Path) -> None:
    assert len(explain(folder, "--all")) == 6 + 1


def test_the_table_can_be_shorter(folder: Path) -> None:
    lines = explain(folder, "--top", "1")
    assert lines[-1] == "These are 1 of 3 keys, those with most bytes."


def test_the_options_of_the_topic_count(folder: Path) -> None:
    lag = explain(folder, "--set", "min.compaction.lag.ms=1699999999999")
    assert lag[2] == (
        "Out of reach: from offset 0 on, 265 bytes; min.compaction.lag.ms protects it until "
        "2023-11-14 22:13:21 UTC."
    )
    assert lag[3].startswith("A broker would not compact it now: nothing that is dirty is in reach")
    (folder.parent / CLEANED_UP_TO).write_bytes(format_offsets({("orders", 0): 3}))
    ratio = explain(folder, "--set", "min.cleanable.dirty.ratio=0.9")
    assert ratio[1] == "Clean: up to offset 3, 101 bytes; the last compaction ended there."
    assert ratio[4] == (
        "A broker would not compact it now: its dirty ratio, 0.46, is not above "
        "min.cleanable.dirty.ratio, 0.90."
    )


def test_a_checkpoint_from_elsewhere_is_told(folder: Path) -> None:
    (folder.parent / CLEANED_UP_TO).write_bytes(format_offsets({("orders", 0): 99}))
    assert explain(folder)[1] == (
        "Clean: nothing, the last compaction ended at offset 99, which is not in the log any more."
    )


def test_a_program_gets_one_object_for_the_log(folder: Path) -> None:
    (line,) = explain(folder, "--json", "--top", "2")
    log = json.loads(line)
    assert log["partition"] == "orders-0"
    assert (log["records_kept"], log["records_dropped"], log["key_count"]) == (4, 2, 3)
    assert (log["would_compact"], log["reason"], log["bound"]) == (True, "dirty", "active_segment")
    assert log["verdicts"]["dropped_newer"] == 2
    assert [key["key"] for key in log["keys"]] == ["alice", "bob"]
    assert log["keys"][0]["oldest_kept"]["offset"] == 3
    assert log["findings"] == []


def test_or_one_for_each_record(folder: Path) -> None:
    records = [json.loads(line) for line in explain(folder, "--json", "--all")]
    assert [r["offset"] for r in records] == [0, 1, 2, 3, 4, 5]
    assert records[0] == {
        "offset": 0,
        "timestamp": 1_000,
        "key": "alice",
        "key_hex": b"alice".hex(),
        "value_bytes": 3,
        "size_bytes": 8,
        "marker": False,
        "kept": False,
        "verdict": "dropped_newer",
        "detail": 3,
        "why": "a newer one of its key is at offset 3",
    }
    assert (records[2]["key"], records[2]["key_hex"]) == (None, "ff00")
    assert records[4]["value_bytes"] is None


def test_the_keys_named_in_the_help_are_those_printed(folder: Path) -> None:
    text = run("log", "explain-compaction", "--help").stdout
    (log,) = (json.loads(line) for line in explain(folder, "--json"))
    record = log["keys"][0]["oldest_kept"]
    for name in (*log, *log["keys"][0], *record):
        assert name in text


@pytest.fixture
def kafka(tmp_path: Path) -> Path:
    """Log directories that Kafka 3.9.1 wrote."""
    for path, content in files_of(KAFKA_3_9).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return tmp_path


def test_the_keys_of_internal_topics_are_decoded(kafka: Path) -> None:
    lines = explain(kafka / "broker-1/__consumer_offsets-0")
    assert any(
        line.startswith("type=1 group=load-group topic=plain partition=0 ") for line in lines
    )
    lines = explain(kafka / "broker-1/__transaction_state-0")
    assert any("transactionalId=" in line for line in lines)


def test_a_group_is_key_enough(kafka: Path) -> None:
    folder = kafka / "broker-1/__consumer_offsets-0"
    lines = explain(folder, "--key", "load-group", "--json")
    keys = {json.dumps(json.loads(line)["key"]) for line in lines}
    assert len(keys) > 3
    assert all("load-group" in key for key in keys)


def test_nothing_is_changed(kafka: Path) -> None:
    def state() -> dict[Path, tuple[bytes, int]]:
        return {
            path: (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(kafka.rglob("*"))
            if path.is_file()
        }

    before = state()
    for folder in sorted(kafka.glob("broker-*/*-[0-9]")):
        explain(folder)
    assert state() == before


def test_the_current_folder_can_be_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert explain(".")[0].startswith("orders-0: ")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["orders-1"], "orders-1: there is no such file or folder."),
        (["orders-0", "--key", "alise"], "no record has the key alise. Near are alice."),
        (["orders-0", "--key", "00", "--key-hex"], "no record has the key"),
    ],
)
def test_what_is_not_there_ends_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(folder.parent)
    result = run("log", "explain-compaction", *arguments)
    assert result.exit_code == 1
    assert sentence in told(result)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["."], "is not a partition's folder: it holds no .log files."),
        ([f"orders-0/{0:020}.log"], "is a file. Give the partition's folder that holds it."),
        (["orders-0", "--all", "--key", "a"], "give keys or --all, not both."),
        (["orders-0", "--key-hex"], "goes with --key."),
        (["orders-0", "--key", "xy", "--key-hex"], "xy: not hexadecimal."),
        (
            ["orders-0", "--set", "retention.ms=1"],
            "retention.ms=1 is none of min.compaction.lag.ms",
        ),
        (["orders-0", "--set", "segment.bytes=lots"], "needs a whole number, 14 or more"),
        (["orders-0", "--set", "min.cleanable.dirty.ratio=7"], "needs a number from 0 to 1"),
    ],
)
def test_a_wrong_call_ends_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(folder.parent)
    result = run("log", "explain-compaction", *arguments)
    assert result.exit_code == 2
    assert sentence in told(result)


def test_a_corrupt_batch_is_named_and_all_before_it_explained(folder: Path) -> None:
    log = folder / f"{3:020}.log"
    log.write_bytes(log.read_bytes()[:-1] + b"!")
    result = run("log", "explain-compaction", str(folder))
    assert result.exit_code == 1
    assert f"error: {log}, at 0: " in told(result)
    assert "A broker would not compact it now: a batch is corrupt" in result.stdout
    assert "offset 0: it is the latest of its key" in result.stdout


def test_a_reader_may_leave_early(tmp_path: Path) -> None:
    log = WrittenLog()
    for _ in range(3_000):
        log.write([(b"k", b"v")])
    folder = put(tmp_path / "orders-0", log)
    script = f"{sys.executable} -m ottla log explain-compaction {folder} --all | head -n 2"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_makes_a_sentence(verdict: Verdict) -> None:
    sentence = fate(verdict, 5)
    assert sentence.startswith("kept: " if verdict.keeps else "dropped: ")
    assert not sentence.endswith(("the offset", "the time"))


def test_times_beyond_the_calendar_are_told_too() -> None:
    assert time_text(-1) == "no time"
    assert time_text(1 << 62) == "the end of time"
