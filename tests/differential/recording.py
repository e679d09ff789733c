"""Kafka's answers on file, a line of JSON for each case: nobody needs a JVM to compare."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.differential.case import Case

FILE = Path(__file__).parent / "kafka_3_9_1.jsonl.gz"


def write(answered: Iterable[tuple[Case, list[Any]]], file: Path = FILE) -> int:
    """Replaces the file; how many cases it holds."""
    lines = [
        json.dumps({"case": case.name, "steps": _with_titles(case, outcomes)}, ensure_ascii=False)
        for case, outcomes in answered
    ]
    # Without a time in it, equal answers make equal files.
    file.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
    return len(lines)


def _with_titles(case: Case, outcomes: list[Any]) -> list[list[Any]]:
    return [[step.title, outcome] for step, outcome in zip(case.steps, outcomes, strict=True)]


def read(file: Path = FILE) -> dict[str, list[tuple[str, Any]]]:
    """By case, the title and outcome of each step."""
    lines = map(json.loads, gzip.decompress(file.read_bytes()).decode().split("\n")[:-1])
    return {line["case"]: [(title, outcome) for title, outcome in line["steps"]] for line in lines}
