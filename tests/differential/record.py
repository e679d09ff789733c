"""`python -m tests.differential.record [NAME...]`: asks a real Kafka, and keeps its answers.

Names or patterns of cases ask it those alone; the answers to the others stay as they are.
"""

from __future__ import annotations

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
    target: str, folder: Path, patterns: Sequence[str] = ("*",), *, run: str = "0"
) -> Iterator[tuple[Case, list[Any]]]:
    """Every case; one broker after the other, as many as there are kinds of settings."""
    for broker, settings in SETTINGS.items():
        if cases := chosen(broker, patterns):
            with started(target, folder / broker, settings) as bootstrap:
                yield from outcomes(bootstrap, cases, run)


def main(patterns: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        answered = {
            case.name: found
            for case, found in answers_of("kafka", Path(folder), patterns or ("*",))
        }
    kept = {name: [found for _, found in steps] for name, steps in recording.read().items()}
    known = kept | answered
    count = recording.write((case, known[case.name]) for case in CASES if case.name in known)
    sys.stdout.write(f"{count} cases in {recording.FILE}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
