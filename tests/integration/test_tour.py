"""The README's tour shows what its commands print, and its code runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

README = Path(__file__).parents[2] / "README.md"
PROMPT = "$ "
ANYTHING = "…"
# What the README has, and what the system gives a broker in a test.
ADDRESS, HTTP = "127.0.0.1:9092", "127.0.0.1:9600"
FREE_PORTS = ("--port", "0", "--set", "ottla.http.port=0")
SHELL = f'set -o pipefail; ottla() {{ {shlex.quote(sys.executable)} -m ottla "$@"; }}; '


def tour(document: Path = README, heading: str = "## Five-minute tour") -> str:
    return document.read_text(encoding="utf-8").partition(heading)[2].split("\n## ")[0]


def shown(text: str | None = None) -> list[tuple[str, str]]:
    """Each command of the tour with the output below it."""
    unfenced = re.sub("```.*?```", "", text or tour(), flags=re.DOTALL)
    blocks = re.findall(r"(?:^ {4}.*\n)+", unfenced, flags=re.MULTILINE)
    pieces = [piece.partition("\n") for block in blocks for piece in dedent(block).split(PROMPT)]
    return [(command, output) for command, _, output in pieces if command]


def code() -> list[str]:
    return re.findall(r"```python\n(.*?)```", tour(), flags=re.DOTALL)


class Walk:
    """Through the tour, in a folder and with a broker of its own."""

    def __init__(self, folder: Path, announced: str) -> None:
        self.folder = folder
        self.announced = announced
        self.bootstrap, self.http = re.findall(r"127\.0\.0\.1:\d+", announced)

    def here(self, text: str) -> str:
        return text.replace(ADDRESS, self.bootstrap).replace(HTTP, self.http)

    def prints(self, *command: str) -> str:
        environment = os.environ | {"OTTLA_BOOTSTRAP": self.bootstrap}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, check=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}"
        return done.stdout


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    program, *arguments = shlex.split(shown()[0][0])
    assert program == "ottla"
    command = [sys.executable, "-m", program, *arguments, *FREE_PORTS]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as broker:
        try:
            assert broker.stdout is not None
            yield Walk(tmp_path, broker.stdout.readline() + broker.stdout.readline())
        finally:
            broker.terminate()
            broker.wait()


def is_as_shown(printed: str, output: str) -> bool:
    pattern = re.escape(output.rstrip()).replace(ANYTHING, ".*")
    return bool(re.fullmatch(pattern, printed.rstrip(), re.DOTALL))


def test_every_command_prints_what_the_readme_shows(walk: Walk) -> None:
    (_, start), *others = shown()
    assert len(others) >= 10
    assert is_as_shown(walk.announced, walk.here(start.removesuffix(f"{ANYTHING}\n")))
    for command, output in others:
        printed = walk.prints("bash", "-c", SHELL + walk.here(command))
        told = f"`{command}` prints, other than README.md has it:\n{printed}"
        assert is_as_shown(printed, walk.here(output)), told


def test_the_client_of_the_readme_writes_and_reads(walk: Walk) -> None:
    client, _ = code()
    walk.prints(sys.executable, "-c", walk.here(client))


def test_the_test_of_the_readme_passes(walk: Walk) -> None:
    _, test = code()
    (walk.folder / "test_orders.py").write_text(test, encoding="utf-8")
    assert "1 passed" in walk.prints(sys.executable, "-m", "pytest", "test_orders.py")
