"""`ottla spark`: what people and programs are told of this machine, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ottla.cli import spark
from ottla.pipelines.doctor import Finding, Health
from ottla.pipelines.jars import CONNECTOR
from tests.unit.cli.commands import run, told

GOOD = Finding("Java", "17", Health.GOOD)
LIMITED = Finding("connector jars", "0 of 4 in jars", Health.LIMITED, "Run `ottla spark jars`.")
BROKEN = Finding("pandas", "3.0.0", Health.BROKEN, "Pipelines need an older one.")


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    found = [GOOD, LIMITED]
    monkeypatch.setattr(spark, "examine", lambda folder: found)
    return found


def test_a_limit_has_its_fix_and_is_no_failure(findings: list[Finding]) -> None:
    result = run("spark", "doctor")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "what            health   found",
        "Java            good     17",
        "connector jars  limited  0 of 4 in jars",
        "connector jars: Run `ottla spark jars`.",
    ]


def test_what_is_broken_fails_the_command(findings: list[Finding]) -> None:
    findings.append(BROKEN)
    result = run("spark", "doctor")
    assert result.exit_code == 1
    assert result.stdout.endswith("pandas: Pipelines need an older one.\n")


def test_programs_get_the_findings_whole(findings: list[Finding]) -> None:
    result = run("spark", "doctor", "--json")
    assert json.loads(result.stdout) == [
        {"what": "Java", "found": "17", "health": "good", "fix": ""},
        {
            "what": "connector jars",
            "found": "0 of 4 in jars",
            "health": "limited",
            "fix": "Run `ottla spark jars`.",
        },
    ]


def test_jars_that_are_there_are_counted_and_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spark, "have", lambda jars, **_: [f"{tmp_path}/{jar.file}" for jar in jars])
    result = run("spark", "jars", "--folder", str(tmp_path))
    expected = f"9 jars are in {tmp_path}, each with its right sha256.\n"
    assert (result.exit_code, result.stdout) == (0, expected)
    listed = json.loads(run("spark", "jars", "--folder", str(tmp_path), "--json").stdout)
    assert listed[0] == f"{tmp_path}/{CONNECTOR[0].file}"


def test_without_maven_the_command_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    result = run("spark", "jars", "--folder", str(tmp_path))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "install Maven" in told(result)
    assert "OTTLA_JARS" in told(result)
