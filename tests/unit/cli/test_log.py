"""`ottla log` on real files: what it prints, what it says of mistakes, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.storage.checkpoints import format_leader_epochs
from ottla.storage.disk import RealDisk
from ottla.storage.epochs import EpochEntry
from ottla.storage.files import Lock
from tests.unit.cli.commands import run, told
from tests.unit.logtools.partitions import data

LOG = f"{0:020}.log"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A partition of 60 batches, without indexes."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / LOG).write_bytes(b"".join(data(offset) for offset in range(60)))
    (folder / "leader-epoch-checkpoint").write_bytes(format_leader_epochs([EpochEntry(0, 0)]))
    return folder


@pytest.fixture
def indexed(folder: Path) -> Path:
    assert run("log", "index", str(folder / LOG)).exit_code == 0
    return folder


def test_a_log_is_dumped_with_its_records(folder: Path) -> None:
    result = run("log", "dump", str(folder / LOG), "--print-data")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[:2] == [f"Dumping {folder / LOG}", "Log starting offset: 0"]
    assert lines[3].endswith("key: key payload: value")
    assert len(lines) == 2 + 2 * 60


def test_kafkas_own_name_of_the_option_works_too(folder: Path) -> None:
    ours = run("log", "dump", str(folder / LOG), "--print-data")
    theirs = run("log", "dump", str(folder / LOG), "--print-data-log", "--deep-iteration")
    assert ours.stdout == theirs.stdout


def test_a_dump_can_be_read_by_a_machine(indexed: Path) -> None:
    result = run("log", "dump", str(indexed), "--json")
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [one["kind"] for one in objects]
    assert kinds.count("batch") == 60
    assert {"log", "index entry", "time index entry", "leader epoch"} <= set(kinds)
    assert {Path(one["file"]).parent for one in objects} == {indexed}


def test_a_log_directory_is_dumped_with_all_its_partitions(indexed: Path) -> None:
    (indexed.parent / "meta.properties").write_text("broker.id=1\n")
    (indexed.parent / "notes.txt").write_text("ours")
    result = run("log", "dump", str(indexed.parent))
    dumped = [line for line in result.stdout.splitlines() if line.startswith("Dumping")]
    assert result.exit_code == 0
    assert len(dumped) == 5
    assert "broker.id: 1" in result.stdout
    assert "notes.txt" not in result.stdout


def test_the_words_of_2_0_can_be_had(folder: Path) -> None:
    result = run("log", "dump", str(folder / LOG), "--format", "2.0")
    assert result.stdout.splitlines()[1] == "Starting offset: 0"


def test_what_is_wrong_with_a_file_is_said_at_the_end(folder: Path) -> None:
    with (folder / LOG).open("ab") as log:
        log.write(b"torn")
    result = run("log", "dump", str(folder / LOG))
    assert result.exit_code == 1
    assert "Found 4 invalid bytes" in result.stdout
    assert f"{LOG}, at 4560: cut off: 4 bytes are no batch." in told(result)


def test_two_decoders_are_one_too_many(folder: Path) -> None:
    arguments = ("--offsets-decoder", "--transaction-log-decoder")
    assert run("log", "dump", str(folder / LOG), *arguments).exit_code == 2


@pytest.mark.parametrize("command", ["dump", "verify", "index"])
def test_a_missing_file_is_one_sentence(command: str, tmp_path: Path) -> None:
    result = run("log", command, str(tmp_path / "gone" / LOG))
    assert result.exit_code == 1
    assert told(result).endswith(f"{LOG}: there is no such file or folder.")


@pytest.mark.parametrize("command", ["dump", "verify"])
def test_a_folder_without_logs_is_told_from_one_with_logs(command: str, tmp_path: Path) -> None:
    result = run("log", command, str(tmp_path))
    assert result.exit_code == 2
    assert "a log directory" in told(result).lower()


@pytest.mark.parametrize("command", ["dump", "index"])
def test_a_file_of_an_unknown_kind_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("ours")
    result = run("log", command, str(tmp_path / "notes.txt"))
    assert result.exit_code == 2
    assert "is not named like a file of a" in told(result)


def test_a_file_is_no_folder_to_verify(folder: Path) -> None:
    result = run("log", "verify", str(folder / LOG))
    assert result.exit_code == 1
    assert "Traceback" not in told(result)


def test_a_sound_partition_is_called_so(indexed: Path) -> None:
    result = run("log", "verify", str(indexed))
    assert (result.exit_code, result.stdout) == (
        0,
        "Checked 1 partition, 4,560 bytes of logs: sound.\n",
    )


def test_findings_are_a_table_and_an_exit_code(indexed: Path) -> None:
    content = bytearray((indexed / LOG).read_bytes())
    content[100] ^= 1
    (indexed / LOG).write_bytes(content)
    result = run("log", "verify", str(indexed))
    assert result.exit_code == 1
    header, finding, *_, verdict = result.stdout.splitlines()
    assert header.split()[:3] == ["severity", "file", "at"]
    assert finding.split()[:3] == ["error", str(indexed / LOG), "76"]
    assert verdict.endswith("not sound.")


def test_findings_can_be_read_by_a_machine(indexed: Path) -> None:
    (indexed / f"{0:020}.index").write_bytes(b"odd")
    report = json.loads(run("log", "verify", str(indexed), "--json").stdout)
    assert (report["partitions"], report["sound"]) == (1, False)
    assert set(report["findings"][0]) == {"severity", "file", "position", "what", "fix"}


def test_a_dry_run_shows_the_difference_and_changes_nothing(folder: Path) -> None:
    result = run("log", "index", str(folder / LOG), "--dry-run")
    assert result.exit_code == 1
    assert "+54:4104" in result.stdout
    assert not (folder / f"{0:020}.index").exists()


def test_rebuilt_indexes_are_written_once_and_then_the_same(indexed: Path) -> None:
    assert (indexed / f"{0:020}.index").stat().st_size == 8
    again = run("log", "index", str(indexed / f"{0:020}.index"), "--dry-run", "--json")
    assert again.exit_code == 0
    assert [change["same"] for change in json.loads(again.stdout)] == [True, True]
    assert not list(indexed.glob("*.tmp"))


def test_a_damaged_log_is_not_indexed(folder: Path) -> None:
    with (folder / LOG).open("ab") as log:
        log.write(b"torn")
    result = run("log", "index", str(folder / LOG))
    assert result.exit_code == 1
    assert "byte 4560: cut off: 4 bytes are no batch. Run `ottla log verify`" in told(result)
    assert not (folder / f"{0:020}.index").exists()


@pytest.fixture
def lock(folder: Path) -> Lock:
    return RealDisk().lock(str(folder.parent / ".lock"))


def test_a_running_broker_is_not_disturbed(folder: Path, lock: Lock) -> None:
    result = run("log", "index", str(folder / LOG))
    assert result.exit_code == 1
    assert "a broker is running on" in told(result)
    lock.release()
    assert run("log", "index", str(folder / LOG)).exit_code == 0


def test_a_reader_that_leaves_early_causes_no_noise(folder: Path) -> None:
    command = [sys.executable, "-m", "ottla", "log", "dump", *[str(folder / LOG)] * 50]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"Dumping")
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("command", ["dump", "verify", "index"])
def test_help_tells_examples_and_exit_codes(command: str) -> None:
    result = run("log", command, "--help")
    assert result.exit_code == 0
    assert f"ottla log {command} data" in result.stdout
    assert "Exit code: 0" in result.stdout
