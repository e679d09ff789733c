"""Folders of small files on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.folder import is_local, open_folder


def test_a_file_is_written_whole_and_read_again(tmp_path: Path) -> None:
    folder = open_folder(f"file://{tmp_path}/a%20b")
    assert folder.path == f"{tmp_path}/a b"
    assert folder.read("deep/name") is None
    folder.write("deep/name", b"one")
    folder.write("deep/name", b"two")
    assert folder.read("deep/name") == b"two"
    assert folder.names("deep") == ["name"]
    assert folder.names("nowhere") == []


def test_a_checksum_that_no_longer_fits_goes(tmp_path: Path) -> None:
    (tmp_path / ".7.crc").write_bytes(b"of what Spark wrote")
    open_folder(str(tmp_path)).write("7", b"ours")
    assert [path.name for path in tmp_path.iterdir()] == ["7"]


def test_deleting_takes_files_and_folders_and_what_is_not_there(tmp_path: Path) -> None:
    folder = open_folder(str(tmp_path))
    folder.write("a/b/c", b"")
    folder.write("d", b"")
    for name in ("a", "d", "e"):
        folder.delete(name)
    assert folder.names() == []


def test_a_renamed_folder_keeps_what_is_in_it(tmp_path: Path) -> None:
    folder = open_folder(str(tmp_path))
    folder.write("draft/x", b"1")
    folder.rename("draft", to="done/now")
    assert folder.read("done/now/x") == b"1"


@pytest.mark.parametrize("path", ["state", "/var/state", "file:///var/state"])
def test_what_is_here_needs_no_session(path: str) -> None:
    assert is_local(path)


@pytest.mark.parametrize("path", ["hdfs://host/path", "s3a://bucket", "viewfs://lab/state"])
def test_another_file_system_needs_one(path: str) -> None:
    assert not is_local(path)
