"""The root of the command line: the version, and what a mistyped command is told."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from ottla import __version__
from ottla.cli.app import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="ottla")


def test_the_version_is_one_line() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"ottla {__version__}\n")


def test_the_version_can_be_read_by_a_machine() -> None:
    result = run("--version", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"version": __version__}


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert result.exit_code == 0
    assert "Usage: ottla" in result.stdout
    assert "ottla --version" in result.stdout


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_gives_examples(option: str) -> None:
    result = run(option)
    assert result.exit_code == 0
    assert "ottla --version --json" in result.stdout


@pytest.mark.parametrize("mistake", ["tpoics", "--verison"])
def test_a_mistyped_word_exits_with_2_and_names_the_help(mistake: str) -> None:
    result = run(mistake)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert mistake in result.stderr
    assert "Try 'ottla -h' for help" in result.stderr


def test_json_without_anything_to_print_is_a_mistake() -> None:
    result = run("--json")
    assert result.exit_code == 2
    assert "--version" in result.stderr
