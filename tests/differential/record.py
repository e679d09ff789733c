"""`python -m tests.differential.record`: asks a real Kafka everything, and keeps its answers."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.differential import recording
from tests.differential.asking import outcomes
from tests.differential.case import SETTINGS, Case
from tests.differential.run import chosen
from tests.targets.target import started


def answers_of(target: str, folder: Path, *, run: str = "0") -> Iterator[tuple[Case, list[Any]]]:
    """Every case; one broker after the other, as many as there are kinds of settings."""
    for broker, settings in SETTINGS.items():
        with started(target, folder / broker, settings) as bootstrap:
            yield from outcomes(bootstrap, chosen(broker), run)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        count = recording.write(answers_of("kafka", Path(folder)))
    sys.stdout.write(f"{count} cases in {recording.FILE}\n")


if __name__ == "__main__":
    main()
