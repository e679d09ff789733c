"""Where jars come from: a folder of the user's, the cache, Maven; and that they are checked."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ottla.pipelines import maven
from ottla.pipelines.jars import CONNECTOR, DELTA, Jar, JarsMissing, folder_of_jars, have, missing

ONE = Jar("org.example", "one", "1.0", hashlib.sha256(b"one").hexdigest())
TWO = Jar("org.example", "two", "2.0", hashlib.sha256(b"two").hexdigest())
JARS = (ONE, TWO)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Maven can be had nowhere, unless a test says so."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("OTTLA_JARS", raising=False)
    monkeypatch.setenv("PATH", "")
    return tmp_path / "cache" / "ottla" / "jars"


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Maven was asked for; it gives an artifact's name as the file's content."""
    asked: list[str] = []

    def copy(coordinates: str, *, to: Path) -> None:
        asked.append(coordinates)
        _, artifact, version = coordinates.split(":")
        (to / f"{artifact}-{version}.jar").write_text(artifact, encoding="utf-8")

    monkeypatch.setattr(maven, "copy", copy)
    return asked


def test_what_is_not_there_is_fetched_once(folder: Path, fetched: list[str]) -> None:
    paths = [str(folder / "one-1.0.jar"), str(folder / "two-2.0.jar")]
    assert have(JARS) == paths
    assert have(JARS) == paths
    assert fetched == ["org.example:one:1.0", "org.example:two:2.0"]
    assert sorted(path.name for path in folder.iterdir()) == ["one-1.0.jar", "two-2.0.jar"]


def test_progress_counts_those_that_were_there(folder: Path, fetched: list[str]) -> None:
    have([ONE])
    told: list[tuple[int, int]] = []
    have(JARS, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_a_named_folder_wins_over_the_environment_and_that_over_the_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder_of_jars() == folder
    monkeypatch.setenv("OTTLA_JARS", str(tmp_path / "environment"))
    assert folder_of_jars() == tmp_path / "environment"
    assert folder_of_jars(str(tmp_path / "option")) == tmp_path / "option"


def test_jars_of_a_named_folder_need_no_maven(tmp_path: Path) -> None:
    (tmp_path / "one-1.0.jar").write_bytes(b"one")
    assert have([ONE], folder=str(tmp_path)) == [str(tmp_path / "one-1.0.jar")]
    assert missing(JARS, folder=str(tmp_path)) == [TWO]


def test_a_jar_that_was_changed_is_refused(tmp_path: Path, fetched: list[str]) -> None:
    (tmp_path / "one-1.0.jar").write_bytes(b"other")
    with pytest.raises(JarsMissing, match=r"one-1\.0\.jar is not org\.example:one:1\.0: .* delete"):
        have([ONE], folder=str(tmp_path))
    assert fetched == []


def test_a_jar_that_came_wrong_is_not_kept(folder: Path, fetched: list[str]) -> None:
    wrong = TWO._replace(sha256="0" * 64)
    with pytest.raises(JarsMissing, match=r"what it gave has the sha256 \w+, not 0000"):
        have([wrong])
    assert list(folder.iterdir()) == []


def test_without_maven_one_sentence_says_what_to_do(folder: Path) -> None:
    with pytest.raises(JarsMissing) as refused:
        have(JARS)
    assert str(refused.value) == (
        f"one-1.0.jar is not in {folder} and Maven could not fetch it (there is no `mvn` on the "
        "PATH): install Maven and see that it reaches its repository, or name a folder that has "
        "it in OTTLA_JARS"
    )


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, fetched: list[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(JarsMissing, match=r"one-1\.0\.jar is not in .*/file/jars"):
        have([ONE], folder=str(tmp_path / "file" / "jars"))


def test_the_list_names_every_jar_once_with_a_whole_checksum() -> None:
    listed = (*CONNECTOR, *DELTA)
    assert (len(CONNECTOR), len(DELTA)) == (4, 5)
    assert len({jar.file for jar in listed}) == len({jar.sha256 for jar in listed}) == 9
    assert all(len(bytes.fromhex(jar.sha256)) == 32 for jar in listed)
