"""Kafka's own dump tool finds nothing wrong with what Ottla writes, and prints what was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.storage.config import TimestampPolicy
from tests.kafka.peer import Output, run_tool
from tests.kafka.written import TOPICS, Partition, Seen, write_partitions
from tests.unit.cli.commands import run

DUMP = "kafka.tools.DumpLogSegments"
RECORD = re.compile(
    r"\| offset: (?P<offset>\d+) (?P<kind>\w+): (?P<timestamp>-?\d+) "
    r"keySize: (?P<key_size>-?\d+) valueSize: (?P<value_size>-?\d+) "
    r"(?:sequence: (?P<sequence>-?\d+) headerKeys: \[(?P<headers>.*?)\]|isValid: true crc: \d+\})"
    r"(?: key: (?P<key>.*?))?(?: payload: (?P<value>.*))?"
)


@pytest.fixture(scope="module")
def partitions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Partition]:
    return write_partitions(tmp_path_factory.mktemp("written"))


@pytest.fixture(scope="module")
def files(partitions: dict[str, Partition]) -> list[str]:
    """All that the tool knows to read, in the order in which it is told to."""
    folders = [partition.folder for partition in partitions.values()]
    return [str(file) for folder in folders for file in sorted(folder.glob("0*"))]


@pytest.fixture(scope="module")
def dumped(classpath: str, files: list[str]) -> Output:
    options = ("--deep-iteration", "--print-data-log", "--files", ",".join(files))
    return run_tool(classpath, DUMP, *options)


def lines_of(dumped: Output, folder: Path, kind: str = "") -> Iterator[str]:
    """What was printed of a partition's files, or of those of one kind."""
    is_meant = False
    for line in dumped.lines:
        if line.startswith("Dumping "):
            is_meant = line.startswith(f"Dumping {folder}/") and line.endswith(kind)
        elif is_meant:
            yield line


def records_printed(dumped: Output, folder: Path) -> Iterator[re.Match[str]]:
    for line in lines_of(dumped, folder, ".log"):
        if line.startswith("| ") and "endTxnMarker" not in line:
            match = RECORD.fullmatch(line)
            assert match is not None, line
            yield match


def test_the_files_are_of_every_kind(files: list[str]) -> None:
    kinds = {Path(file).suffix for file in files}
    assert kinds == {".log", ".index", ".timeindex", ".txnindex", ".snapshot"}
    assert sum(file.endswith(".log") for file in files) > 2 * len(TOPICS)


@pytest.mark.parametrize("topic", TOPICS)
def test_kafka_s_tool_prints_the_records_that_were_written(
    topic: str, partitions: dict[str, Partition], dumped: Output
) -> None:
    partition = partitions[topic]
    printed = list(records_printed(dumped, partition.folder))
    assert [as_written(record, partition) for record in printed] == [
        without_header_values(record) for record in partition.records
    ]


def as_written(printed: re.Match[str], partition: Partition) -> Seen:
    kind = "LogAppendTime" if is_append_time(partition) else "CreateTime"
    assert printed["kind"] == ("NoTimestampType" if partition.config.message_magic == 0 else kind)
    key, value = (None if printed[f] is None else printed[f].encode() for f in ("key", "value"))
    assert int(printed["key_size"]) == (-1 if key is None else len(key))
    assert int(printed["value_size"]) == (-1 if value is None else len(value))
    names = printed["headers"].split(",") if printed["headers"] else []
    headers = tuple((name, None) for name in names)
    return Seen(int(printed["offset"]), int(printed["timestamp"]), key, value, headers)


def is_append_time(partition: Partition) -> bool:
    return partition.config.timestamp_policy is TimestampPolicy.LOG_APPEND_TIME


def without_header_values(record: Seen) -> Seen:
    return record._replace(headers=tuple((name, None) for name, _ in record.headers))


def test_kafka_s_tool_finds_every_batch_valid(dumped: Output) -> None:
    batches = [line for line in dumped.lines if " magic: " in line]
    assert len(batches) > 300
    assert all(line.endswith("isvalid: true") for line in batches)


def test_kafka_s_tool_complains_only_of_what_it_complains_of_in_kafka_s_files(
    partitions: dict[str, Partition], dumped: Output
) -> None:
    """A leader's append gets one index entry: where it begins, and its last offset.

    Only in the old formats does it hold several messages side by side, of which the tool expects
    the first one's offset. And it finds gaps between offsets, which compaction leaves.
    """
    for what, file, detail in complaints(dumped):
        partition = partitions[file.parent.name.removesuffix("-0")]
        if partition.topic == "compacted":
            assert what == "Non-consecutive offsets"
            continue
        assert (what, partition.config.message_magic) == ("Mismatches", 1)
        entry = re.fullmatch(r"  Index offset: (\d+), log offset: (\d+)", detail)
        assert entry is not None, detail
        last, first = map(int, entry.groups())
        assert range(first, last + 1) in partition.sends


def complaints(dumped: Output) -> Iterator[tuple[str, Path, str]]:
    """What is wrong, in which file, and where in it."""
    what, file = "", ""
    for line in dumped.complaints:
        if line.startswith("  "):
            yield what, Path(file), line
        else:
            what, _, file = line.partition(" in ")
            file = file.removeprefix(":")


def test_kafka_s_tool_prints_the_ends_of_transactions(
    partitions: dict[str, Partition], dumped: Output
) -> None:
    lines = list(lines_of(dumped, partitions["transactions"].folder))
    markers = [line.partition("endTxnMarker: ")[2] for line in lines if "endTxn" in line]
    assert markers == (["ABORT coordinatorEpoch: 3"] + ["COMMIT coordinatorEpoch: 3"] * 2) * 8
    assert sum("lastStableOffset" in line for line in lines) == 8


def test_ottla_s_dump_prints_what_kafka_s_tool_prints(files: list[str], dumped: Output) -> None:
    done = run("log", "dump", "--deep-iteration", "--print-data", *files)
    assert done.stdout.split("\n")[:-1] == dumped.lines
    assert (done.exit_code, done.stderr) == (0, "")
    assert len(dumped.lines) > 1000


@pytest.mark.parametrize("option", ["--index-sanity-check", "--verify-index-only"])
def test_kafka_s_tool_finds_the_indexes_sound(
    option: str, classpath: str, files: list[str]
) -> None:
    indexes = [file for file in files if Path(file).suffix in (".index", ".timeindex")]
    checked = run_tool(classpath, DUMP, option, "--files", ",".join(indexes))
    expected = []
    for file in indexes:
        is_empty = file.endswith(".index") and not Path(file).stat().st_size
        verdict = f"{file} is empty." if is_empty else f"{file} passed sanity check."
        expected.append(f"Dumping {file}")
        if is_empty or option == "--index-sanity-check":
            expected.append(verdict)
    assert checked.lines == expected
