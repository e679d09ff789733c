"""`python -m tests.differential.record [--case NAME]`: asks a real Kafka, and keeps its answers.

Everything, or the cases whose names match; what was recorded of the others stays.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.differential import recording
from tests.differential.asking import outcomes
from tests.differential.case import SETTINGS, Case
from tests.differential.catalogue import CASES
from tests.differential.run import chosen
from tests.targets.target import started


def answers_of(
    target: str, folder: Path, *, run: str = "0", patterns: Sequence[str] = ("*",)
) -> Iterator[tuple[Case, list[Any]]]:
    """Every case; one broker after the other, as many as there are kinds of settings."""
    for broker, settings in SETTINGS.items():
        if cases := chosen(broker, patterns):
            with started(target, folder / broker, settings) as bootstrap:
                yield from outcomes(bootstrap, cases, run)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.record")
    parser.add_argument("--case", action="append", metavar="NAME", help="a name or pattern")
    patterns = parser.parse_args(arguments).case or ["*"]
    with tempfile.TemporaryDirectory() as folder:
        answered = {
            case.name: found for case, found in answers_of("kafka", Path(folder), patterns=patterns)
        }
    recorded = recording.read() if recording.FILE.exists() else {}
    kept = {name: [outcome for _, outcome in steps] for name, steps in recorded.items()} | answered
    count = recording.write((case, kept[case.name]) for case in CASES if case.name in kept)
    sys.stdout.write(f"{len(answered)} of {count} cases recorded anew in {recording.FILE}\n")


if __name__ == "__main__":
    main()
