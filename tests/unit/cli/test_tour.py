"""The README's tour shows what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from textwrap import dedent

import pytest

from tests.unit.cli.commands import run

README = Path(__file__).parents[3] / "README.md"
PROMPT = "$ ottla "


def shown() -> list[tuple[str, str]]:
    """Each command of the tour with the output below it."""
    tour = README.read_text(encoding="utf-8").partition("## Five-minute tour")[2].partition("\n## ")
    blocks = re.findall(r"(?:^ {4}.*\n)+", tour[0], flags=re.MULTILINE)
    pieces = [piece.partition("\n") for block in blocks for piece in dedent(block).split(PROMPT)]
    return [(command, output) for command, _, output in pieces if command]


def test_the_tour_has_commands() -> None:
    assert len(shown()) >= 6


@pytest.mark.parametrize(("command", "output"), shown())
def test_a_command_of_the_tour_prints_what_the_readme_shows(command: str, output: str) -> None:
    result = run(*shlex.split(command))
    assert result.output == output, f"run `ottla {command}` and paste its output into README.md"
