"""Folders that are reached through Hadoop."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from ottla.pipelines.folder import HadoopFolder


def test_files_are_written_replaced_listed_renamed_and_deleted(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = HadoopFolder(f"file://{tmp_path}/deep/state", spark)
    assert folder.read("a/1") is None
    assert folder.names("a") == []
    folder.write("a/1", b"one")
    folder.write("a/1", bytes(range(256)))
    folder.write("a/2", b"")
    assert folder.read("a/1") == bytes(range(256))
    assert folder.read("a/2") == b""
    assert folder.names("a") == ["1", "2"]
    folder.rename("a", to="b/c")
    assert folder.names("b/c") == ["1", "2"]
    folder.delete("b")
    folder.delete("b")
    assert folder.names() == []
    assert folder.path == f"file:{tmp_path}/deep/state"
