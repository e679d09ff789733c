"""`python -m tests.differential.run --bootstrap HOST:PORT [--case NAME]`: a broker beside Kafka.

Prints where its answers differ from those recorded of Kafka 3.9.1; ends with 1 if any does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from tests.differential import recording
from tests.differential.asking import outcomes
from tests.differential.case import DEFAULT, SETTINGS, Case, Step
from tests.differential.catalogue import CASES
from tests.differential.comparison import Difference, differences
from tests.differential.intended import is_intended


def chosen(broker: str, patterns: Sequence[str] = ("*",)) -> list[Case]:
    return [
        case
        for case in CASES
        if case.broker == broker and any(fnmatch(case.name, pattern) for pattern in patterns)
    ]


def compare(case: Case, expected: Sequence[tuple[str, Any]], actual: Sequence[Any]) -> list[str]:
    """What differs and is not meant to, in lines to read."""
    return [
        f"  {step.title} (step {number}): {difference}"
        for number, (step, (_, kafka), other) in enumerate(
            zip(case.steps, expected, actual, strict=True), 1
        )
        for difference in _unintended(case, step, kafka, other)
    ]


def _unintended(case: Case, step: Step, kafka: Any, other: Any) -> Iterator[Difference]:
    return (each for each in differences(kafka, other) if not is_intended(case, step, each))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.settings:
        _say("\n".join(f"{name}={value}" for name, value in SETTINGS[options.broker].items()))
        return 0
    cases = chosen(options.broker, options.case or ["*"])
    if options.list or not cases:
        _say("\n".join(case.name for case in cases) or "no case has such a name; see --list")
        return 0 if cases else 2
    recorded = recording.read()
    if options.show:
        _say("\n".join(_shown(case, recorded) for case in cases))
        return 0
    differing = 0
    for case, actual in outcomes(options.bootstrap, cases, options.run):
        lines = compare(case, recorded[case.name], actual)
        differing += bool(lines)
        if lines or options.verbose:
            _say("\n".join([f"{'DIFFERS' if lines else 'same'}  {case.name}", *lines]))
    _say(f"{len(cases) - differing} of {len(cases)} cases are answered as by Kafka 3.9.1")
    return 1 if differing else 0


def _shown(case: Case, recorded: Mapping[str, Sequence[tuple[str, Any]]]) -> str:
    steps = [f"{title}\n{json.dumps(outcome, indent=2)}" for title, outcome in recorded[case.name]]
    return "\n".join([f"== {case.name}", *steps])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.run")
    add = parser.add_argument
    add("--bootstrap", default="127.0.0.1:9092", metavar="HOST:PORT")
    add("--case", action="append", metavar="NAME", help="a name or pattern; may be repeated")
    add("--broker", default=DEFAULT, choices=sorted(SETTINGS), help="how it was started")
    add("--settings", action="store_true", help="print what to start the broker with")
    add("--list", action="store_true", help="print the cases' names")
    add("--show", action="store_true", help="print what Kafka answered, and ask nobody")
    add("--verbose", action="store_true", help="name the cases that are the same, too")
    add("--run", default=f"{os.getpid():x}", help="marks this run's topics; hexadecimal")
    return parser


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
