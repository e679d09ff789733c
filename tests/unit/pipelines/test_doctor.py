"""Each thing that pipelines need, found and not found, with its fix."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from ottla.pipelines import doctor, maven
from ottla.pipelines.doctor import Finding, Health, examine, memory, numbers
from ottla.pipelines.jars import CONNECTOR

VERSIONS = {"pyspark": "4.2.0", "pandas": "2.3.3", "pyarrow": "18.0.0"}


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """All is well but for the jars, which are not there."""

    def version(name: str) -> str:
        if name not in VERSIONS:
            raise PackageNotFoundError(name)
        return VERSIONS[name]

    monkeypatch.setattr(doctor, "version", version)
    monkeypatch.setattr(doctor, "memory", lambda: 8 << 30)
    monkeypatch.setattr(maven, "java_version", lambda: 17)
    monkeypatch.setenv("OTTLA_JARS", str(tmp_path))
    return monkeypatch


def found(what: str) -> Finding:
    (finding,) = [each for each in examine() if each.what == what]
    return finding


def test_a_good_machine_needs_no_words() -> None:
    good = [each for each in examine() if each.health is Health.GOOD]
    assert [each.what for each in good] == ["Java", "pyspark", "pandas", "pyarrow", "memory"]
    assert [each.fix for each in good] == [""] * 5


def test_without_java_the_way_to_it_is_told(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(maven, "java_version", lambda: None)
    assert found("Java").health is Health.BROKEN
    assert "apt install openjdk-17-jre" in found("Java").fix


def test_an_old_java_is_named(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(maven, "java_version", lambda: 11)
    assert found("Java")[1:3] == ("11", Health.BROKEN)
    assert found("Java").fix.startswith("Spark needs Java 17 or newer")


@pytest.mark.parametrize(
    ("package", "wrong"),
    [("pandas", "3.0.0"), ("pyspark", "4.1.9"), ("pyspark", "4.2.1"), ("pyarrow", "17.0.1")],
)
def test_a_package_of_another_age_is_broken(
    machine: pytest.MonkeyPatch, package: str, wrong: str
) -> None:
    machine.setitem(VERSIONS, package, wrong)
    assert found(package)[1:3] == (wrong, Health.BROKEN)
    assert "older than" in found(package).fix


def test_a_package_that_is_not_there_is_broken(machine: pytest.MonkeyPatch) -> None:
    machine.delitem(VERSIONS, "pyspark")
    assert found("pyspark")[1:3] == ("not installed", Health.BROKEN)
    assert "pip install 'ottla[spark]'" in found("pyspark").fix


def test_missing_jars_are_a_limit_and_wrong_ones_a_fault(tmp_path: Path) -> None:
    assert found("connector jars")[1:3] == (f"0 of 4 in {tmp_path}", Health.LIMITED)
    assert "ottla spark jars" in found("connector jars").fix
    (tmp_path / CONNECTOR[0].file).write_bytes(b"not a jar")
    assert found("connector jars").health is Health.BROKEN
    assert "delete it" in found("connector jars").fix
    assert found("Delta jars").health is Health.LIMITED


def test_little_memory_is_a_limit(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(doctor, "memory", lambda: 3 << 29)
    assert found("memory")[1:3] == ("1.5 GiB", Health.LIMITED)


def test_the_least_of_what_the_machine_and_the_container_allow_counts(tmp_path: Path) -> None:
    everything = memory(tmp_path)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemFree: 1 kB\nMemAvailable:   2048 kB\n")
    assert memory(tmp_path) == 2 << 20 < everything
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.write_text("max\n")
    assert memory(tmp_path) == 2 << 20
    limit.write_text("1048576\n")
    assert memory(tmp_path) == 1 << 20


def test_versions_are_compared_by_their_numbers() -> None:
    assert numbers("4.10.0.dev1") == (4, 10, 0)
    assert numbers("4.10.0") > numbers("4.9")
    assert numbers("unknown") == ()
