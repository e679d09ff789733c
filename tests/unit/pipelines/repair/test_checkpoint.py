"""Spark's checkpoint, read and put right, on files as Spark writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.folder import LocalFolder
from ottla.pipelines.repair.checkpoint import Checkpoint, UnreadableCheckpoint

SETTINGS = '{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{"spark.sql.shuffle.partitions":"2"}}'
FILES = '{"logOffset":3}'


def write(root: Path, batch: int, *sources: str, is_committed: bool = True) -> None:
    for name in ("offsets", "commits"):
        (root / name).mkdir(exist_ok=True)
    (root / f"offsets/{batch}").write_text("\n".join(["v1", SETTINGS, *sources]))
    (root / f"offsets/.{batch}.crc").write_bytes(b"crc")
    if is_committed:
        (root / f"commits/{batch}").write_text('v1\n{"nextBatchWatermarkMs":0}')


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(LocalFolder(str(tmp_path)))


def test_a_new_one_has_no_batches(checkpoint: Checkpoint) -> None:
    assert checkpoint.last_planned() is None
    assert checkpoint.last_committed() is None


def test_batches_are_compared_as_numbers_and_strange_files_do_not_count(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    for batch in (2, 9, 10):
        write(tmp_path, batch, '{"a":{"0":1}}')
    write(tmp_path, 11, '{"a":{"0":2}}', is_committed=False)
    (tmp_path / "offsets/12.tmp").touch()
    assert (checkpoint.last_planned(), checkpoint.last_committed()) == (11, 10)


def test_offsets_of_all_sources_that_are_topics_are_merged(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    write(tmp_path, 0, '{"a":{"0":5,"1":7}}', FILES, "-", '{"b":{"0":3},"a":{"1":6}}', "3")
    assert checkpoint.offsets(0) == {("a", 0): 5, ("a", 1): 6, ("b", 0): 3}


def test_replaced_offsets_leave_what_is_no_topic_as_it_was(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    write(tmp_path, 4, '{"a":{"0":5,"1":7}}', FILES, "-", '{"b":{"0":3}}')
    checkpoint.replace_offsets(4, {("a", 0): 2, ("a", 1): None, ("a", 2): 0, ("c", 0): 1})
    expected = "\n".join(["v1", SETTINGS, '{"a":{"0":2,"2":0}}', FILES, "-", '{"b":{"0":3}}'])
    assert (tmp_path / "offsets/4").read_text() == expected
    assert not (tmp_path / "offsets/.4.crc").exists()


def test_a_source_that_is_further_need_not_go_back(checkpoint: Checkpoint, tmp_path: Path) -> None:
    write(tmp_path, 4, '{"a":{"0":5}}', '{"a":{"0":9}}')
    checkpoint.replace_offsets(4, {("a", 0): 7, ("a", 1): 3}, only_forwards=True)
    assert (tmp_path / "offsets/4").read_text().splitlines()[2:] == [
        '{"a":{"0":7,"1":3}}',
        '{"a":{"0":9,"1":3}}',
    ]


def test_a_missing_or_foreign_file_is_named(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(UnreadableCheckpoint, match="there is no offsets/3"):
        checkpoint.offsets(3)
    write(tmp_path, 3)
    with pytest.raises(UnreadableCheckpoint, match="offsets/3 begins with 'v1' and has 2 lines"):
        checkpoint.offsets(3)
    (tmp_path / "offsets/3").write_bytes(b"v2\n{}\n\xff")
    with pytest.raises(UnreadableCheckpoint, match="begins with 'v2'"):
        checkpoint.replace_offsets(3, {})
