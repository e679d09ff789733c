"""The door to Maven and Java, with small programs in their place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.pipelines.maven import MavenFailed, copy, java_version

Programs = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def write(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return write


def test_maven_copies_one_artifact_from_a_folder_without_a_project(
    program: Programs, tmp_path: Path
) -> None:
    program("mvn", 'echo "$PWD" "$@" > called')
    copy("org.example:one:1.0", to=tmp_path)
    assert (tmp_path / "called").read_text(encoding="utf-8").split() == [
        str(tmp_path),
        "--batch-mode",
        "--quiet",
        "--update-snapshots",
        "dependency:copy",
        "-Dartifact=org.example:one:1.0",
        f"-DoutputDirectory={tmp_path}",
    ]


def test_what_maven_says_first_is_why_it_failed(program: Programs, tmp_path: Path) -> None:
    program("mvn", 'echo "[ERROR] Could not find it"; echo "[ERROR] For more, read"; exit 1')
    with pytest.raises(MavenFailed, match=r"^Could not find it$"):
        copy("org.example:one:1.0", to=tmp_path)


def test_a_maven_that_says_nothing_is_known_by_its_code(program: Programs, tmp_path: Path) -> None:
    program("mvn", "exit 3")
    with pytest.raises(MavenFailed, match=r"^it ended with 3$"):
        copy("org.example:one:1.0", to=tmp_path)


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("The operation could not be completed.", None),
    ],
)
def test_java_is_asked_for_its_version(program: Programs, said: str, version: int | None) -> None:
    program("java", f"echo '{said}' >&2")
    assert java_version() == version


def test_java_is_looked_for_where_spark_does(
    program: Programs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program("java", "echo 'openjdk version \"21.0.1\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert java_version() == 21
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "elsewhere"))
    assert java_version() is None
