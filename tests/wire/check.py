"""Checks files of vectors: `python -m tests.wire.check FILE…`.

Takes .jsonl and .jsonl.gz of requests, responses, headers, internal records, captures, record sets,
down-conversions and log segments. The last line is `N passed, N failed`; the exit code is 0 only if
something passed and nothing failed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from tests.wire.cases import judge_file

MOST_SHOWN = 20
SILENT_SECONDS = 2.0
LONGEST_PROBLEM = 1_000

USAGE = "usage: python -m tests.wire.check FILE…\n"


class Tally(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        return Tally(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))


def main(arguments: Sequence[str]) -> int:
    if "-h" in arguments or "--help" in arguments:
        _say(f"{__doc__}\n{USAGE}")
        return 0
    if not arguments or any(argument.startswith("-") for argument in arguments):
        sys.stderr.write(USAGE)
        return 2
    total = Tally()
    progress = _Progress()
    for argument in arguments:
        total += check_file(Path(argument), progress)
    _say(f"{total.skipped} unstable cases skipped\n{total.passed} passed, {total.failed} failed\n")
    return 0 if total.passed and not total.failed else 1


def check_file(path: Path, progress: _Progress) -> Tally:
    """Prints the file's line and its first failures."""
    kinds: Counter[str] = Counter()
    failures = []
    skipped = 0
    for done, judgement in enumerate(judge_file(path), 1):
        progress.at(path, done)
        if judgement.skipped:
            skipped += 1
            continue
        kinds[judgement.kind] += 1
        if judgement.problem is not None:
            problem = " ".join(judgement.problem.split())
            failures.append(f"  {judgement.name}: {problem[:LONGEST_PROBLEM]}\n")
    if not kinds and not skipped:
        failures.append("  the file holds no cases\n")
    passed = max(kinds.total() - len(failures), 0)
    found = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing"
    _say(f"{path}: {found}; {passed} passed, {len(failures)} failed, {skipped} skipped\n")
    _say("".join(failures[:MOST_SHOWN]))
    if len(failures) > MOST_SHOWN:
        _say(f"  and {len(failures) - MOST_SHOWN} more\n")
    return Tally(passed, len(failures), skipped)


class _Progress:
    """A line on stderr now and then, once it has taken long enough to make one wonder."""

    def __init__(self) -> None:
        self._due = perf_counter() + SILENT_SECONDS

    def at(self, path: Path, done: int) -> None:
        if perf_counter() >= self._due:
            sys.stderr.write(f"{path}: {done} cases so far\n")
            self._due = perf_counter() + SILENT_SECONDS


def _say(text: str) -> None:
    sys.stdout.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
