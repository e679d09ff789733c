"""The tour of docs/PIPELINES.md shows what its commands print."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from ottla.testing.broker import Broker
from tests.integration.test_tour import SHELL, is_as_shown, shown, tour

PIPELINES = Path(__file__).parents[2] / "docs" / "PIPELINES.md"
# What Java says of itself, whatever is run on it.
NOISE = "WARNING: Using incubator modules: jdk.incubator.vector\n"


def test_every_command_prints_what_the_tour_shows(broker: Broker, tmp_path: Path) -> None:
    text = tour(PIPELINES, "## A tour")
    (program,) = re.findall("```python\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "visits.py").write_text(program, encoding="utf-8")
    commands = shown(text)
    assert len(commands) >= 10
    for command, output in commands:
        done = subprocess.run(
            ["bash", "-c", SHELL + command],
            cwd=tmp_path,
            env=os.environ | {"OTTLA_BOOTSTRAP": broker.bootstrap},
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        printed = done.stdout.replace(NOISE, "")
        assert done.returncode == 0, f"`{command}`: {printed}"
        assert is_as_shown(printed, output), f"`{command}` prints, other than shown:\n{printed}"


def test_the_yaml_of_the_document_says_the_same(tmp_path: Path) -> None:
    (text,) = re.findall("```yaml\n(.*?)```", PIPELINES.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "pipelines.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", SHELL + "ottla pipeline check pipelines.yaml --offline"],
        cwd=tmp_path, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.stdout == "long-visits: nothing is wrong.\n"
