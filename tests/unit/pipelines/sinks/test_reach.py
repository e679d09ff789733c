"""Whether sinks can be written to."""

from __future__ import annotations

from pathlib import Path

from ottla.pipelines.declaration import DatabaseTable, DeltaTable, Noop, ParquetFolder
from ottla.pipelines.sinks.reach import unreachable


def test_a_folder_that_can_be_made_is_reachable(tmp_path: Path) -> None:
    assert unreachable(ParquetFolder(str(tmp_path / "not" / "there" / "yet"))) is None
    assert unreachable(DeltaTable(f"file://{tmp_path}/lake")) is None


def test_below_a_file_there_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = unreachable(ParquetFolder(str(tmp_path / "file" / "lake")))
    assert found == f"{tmp_path}/file is a file, not a folder"


def test_a_database_is_asked(tmp_path: Path) -> None:
    assert unreachable(DatabaseTable(f"sqlite:{tmp_path}/x.db", "t")) is None
    found = unreachable(DatabaseTable(f"sqlite:{tmp_path}/no/where/x.db", "t"))
    assert found is not None
    assert "no/where/x.db" in found
    away = unreachable(DatabaseTable("postgresql://127.0.0.1:1/none?connect_timeout=1", "t"))
    assert away is not None
    assert unreachable(DatabaseTable("oracle://x", "t")) is not None


def test_what_is_elsewhere_or_nothing_is_not_asked() -> None:
    assert unreachable(ParquetFolder("hdfs://host/lake")) is None
    assert unreachable(Noop()) is None
